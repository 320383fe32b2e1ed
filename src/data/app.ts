import { hash } from 'node:crypto';
import { errorBodies } from '../contract/contracts/contract.ts';
import { dataServiceContract } from '../contract/contracts/data-service.ts';
import { explorerContract } from '../contract/contracts/explorer.ts';
import { type InsightsOperations, insightsContract } from '../contract/contracts/insights.ts';
import type { Handlers } from '../contract/contracts/operations.ts';
import { descriptionHandlers, docsRoutes } from '../contract/description/description.ts';
import { withExamples } from '../contract/description/examples.ts';
import { mergedDocument } from '../contract/description/merged-document.ts';
import { mount } from '../contract/mount/mount.ts';
import { openMigrated } from '../db/migrate.ts';
import type { Db } from '../db/open.ts';
import { createApp } from '../http/app/app.ts';
import type { LinkedHostRules } from '../http/fetch/linked-hosts.ts';
import { healthRoutes } from '../http/health.ts';
import type { Metrics } from '../http/metrics.ts';
import { plainRouter } from '../http/plain-router.ts';
import { boundedAs, type ConnectionBounds } from '../http/server/connection-bounds.ts';
import { listen, type RunningServer } from '../http/server/server.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { CACHE_SCHEMA } from './cache/001-entries.ts';
import { responseCache } from './cache/response-cache.ts';
import { sqliteStore } from './cache/sqlite-store.ts';
import { chainsHandler, readiness } from './chain-status.ts';
import { type AnswererOptions, answerer, type Serve } from './explorer/handler.ts';
import { explorer } from './explorer/operations.ts';
import type { Chain } from './fallback/chain.ts';
import { insights } from './insights/operations.ts';
import { QUERY_TIMEOUT_MS } from './insights/query-answerer.ts';
import type { InsightsOptions } from './insights/serve-through-cache.ts';
import { dataPages } from './pages/routes.ts';
import { pictureLoader } from './pictures/picture-loader.ts';
import { isPicturePath, pictureRoute } from './pictures/picture-route.ts';
import { type AnsweringOptions, answering } from './serve/cached-answers.ts';
import { backendValidities, type Lifetimes } from './serve/lifetime.ts';

export interface AppOptions {
  readonly host: string;
  readonly port: number;
  readonly publicUrl?: string | undefined;
  readonly cache: {
    readonly maxBytes: number;
    readonly file?: string | undefined;
    readonly lifetimes: Lifetimes;
  };
  readonly fallback: { readonly timeoutMs: number; readonly staggerMs: number };
  /** Where `ipfs://` links of NFTs are read, without a slash at its end. */
  readonly ipfsGateway: string;
  /** Exceptions for the other hosts that NFTs link to; none when absent. */
  readonly linkedHosts?: LinkedHostRules | undefined;
  readonly validateResponses: boolean;
  /** True to serve the pages for people. */
  readonly pages: boolean;
  readonly rateLimitPerMinute: number;
  readonly trustedProxies: readonly string[];
  /** Bounds of open connections; none when absent. */
  readonly connections?: ConnectionBounds | undefined;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

const CONTRACTS = [explorerContract, insightsContract] as const;
const TITLE = 'tollgate data service';
/** Documents 1 and 2 as one service. Decision 93. */
const describe = () =>
  mergedDocument(TITLE, [
    withExamples(explorerContract),
    withExamples(insightsContract),
    withExamples(dataServiceContract),
  ]);

/** Serves open chains over HTTP, with one cache. Rejects when the cache or the address cannot be had. */
export async function serveChains(
  chains: readonly Chain[],
  options: AppOptions,
  isFilled: () => boolean,
): Promise<RunningServer> {
  const { host, port, fallback, clock, log, metrics } = options;
  const { file, lifetimes, maxBytes } = options.cache;
  const publicUrl = options.publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const db =
    file === undefined ? undefined : await openMigrated({ file, durability: 'normal' }, CACHE_SCHEMA);
  try {
    const durable = db === undefined ? undefined : storeIn(db, clock);
    const handlers = dataHandlers({
      chains,
      cache: responseCache({ maxBytes, durable, clock, log }),
      lifetimes,
      ...fallback,
      publicHost: new URL(publicUrl).hostname,
      clock,
      log,
      metrics,
    });
    const formatError = errorBodies(CONTRACTS);
    const plain = plainRouter();
    healthRoutes(plain, { checks: readiness(chains, { isFilled }) });
    // Port 0 becomes another one; the description is asked for once that is known.
    const description = descriptionHandlers(describe, () => options.publicUrl ?? listening.url);
    await docsRoutes(plain, TITLE);
    const operations = explorer(handlers.serve);
    const pictures = pictureLoader({
      ipfsGateway: options.ipfsGateway,
      rules: options.linkedHosts,
      clock,
      log,
    });
    if (options.pages) {
      const { getTokenInstance } = operations;
      const { getNft } = handlers.insights;
      pictureRoute(plain, { chains, sources: { getTokenInstance, getNft }, pictures });
      dataPages(plain, { chainIds: chains.map(({ id }) => id) });
    }
    const app = createApp({
      log,
      metrics,
      clock,
      rateLimitPerMinute: options.rateLimitPerMinute,
      trustedProxies: options.trustedProxies,
      crossOrigin: {
        exposedHeaders: ['ETag', 'Age', 'X-Cache', 'X-Chain-Id', 'X-Backend'],
        isClosed: isPicturePath,
      },
      formatError,
      routes: [
        await mount({
          contract: explorerContract,
          handlers: operations,
          validateResponses: options.validateResponses,
        }),
        await mount({
          contract: insightsContract,
          handlers: handlers.insights,
          validateResponses: options.validateResponses,
        }),
        await mount({
          contract: dataServiceContract,
          handlers: {
            listChains: chainsHandler(chains),
            getDescription: description.json,
            getDescriptionYaml: description.yaml,
          },
          validateResponses: options.validateResponses,
        }),
      ],
      plain,
    });
    const connections = boundedAs('data', options.connections);
    const listening = await listen({ app, host, port, log, connections, formatError });
    return {
      ...listening,
      close: async drainMs => {
        await listening.close(drainMs);
        await handlers.close();
        await pictures.close();
        await db?.destroy();
      },
    };
  } catch (error) {
    await db?.destroy();
    throw error;
  }
}

function storeIn(db: Db, clock: Clock) {
  // Answers that another version of the contract shaped are not this one's.
  return sqliteStore(db, {
    clock,
    version: hash('sha256', JSON.stringify(CONTRACTS.map(({ document }) => document))),
  });
}

export interface DataHandlersOptions
  extends Omit<AnswererOptions, 'answering'>,
    Omit<AnsweringOptions, 'validities' | 'loadTimeoutMs'>,
    Pick<InsightsOptions, 'publicHost'> {}

/** What answers over the same chains, with one cache. */
export interface DataHandlers {
  /** For the rows of document 1. */
  readonly serve: Serve;
  readonly insights: Handlers<InsightsOperations>;
  /** Ends the loads that nobody waits for any more; to be called when requests are not accepted any longer. */
  close(): Promise<void>;
}

/** Deadline of a whole load, as a multiple of one back end's: so many may hang one after another. */
const LOAD_TIMEOUTS = 3;

/** For what comes before and after a query: the next back end's refusal, and writing the answer. */
const LOAD_MARGIN_MS = 2_000;

/** Makes the handlers of both families. */
export function dataHandlers(options: DataHandlersOptions): DataHandlers {
  const answers = answering({
    ...options,
    validities: backendValidities(options.chains),
    loadTimeoutMs: Math.max(options.timeoutMs * LOAD_TIMEOUTS, QUERY_TIMEOUT_MS + LOAD_MARGIN_MS),
  });
  const answered = { ...options, answering: answers };
  return { serve: answerer(answered), insights: insights(answered), close: answers.close };
}
