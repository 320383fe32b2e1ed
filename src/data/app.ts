import { hash } from 'node:crypto';
import { dataServiceContract } from '../contract/contracts/data-service.ts';
import { explorerContract } from '../contract/contracts/explorer.ts';
import { type InsightsOperations, insightsContract } from '../contract/contracts/insights.ts';
import type { Handlers } from '../contract/contracts/operations.ts';
import { descriptionHandlers, docsRoutes } from '../contract/description/description.ts';
import { withExamples } from '../contract/description/examples.ts';
import { mergedDocument } from '../contract/description/merged-document.ts';
import { mount } from '../contract/mount/mount.ts';
import type { LinkedHostRules } from '../http/fetch/linked-hosts.ts';
import type { Check } from '../http/health.ts';
import type { DiskSpace, DiskSpaceSettings } from '../stores/disk-space.ts';
import { type CacheStoreOptions, openSecondLayer } from './cache/open-second-layer.ts';
import { responseCache } from './cache/response-cache.ts';
import { chainsHandler } from './chain-status.ts';
import { type AnswererOptions, answerer, type Serve } from './explorer/handler.ts';
import { explorer } from './explorer/operations.ts';
import type { Chain } from './fallback/chain.ts';
import type { DataFront, FrontOptions } from './front.ts';
import { insights } from './insights/operations.ts';
import { QUERY_TIMEOUT_MS } from './insights/query-answerer.ts';
import type { InsightsOptions } from './insights/serve-through-cache.ts';
import { pictureLoader } from './pictures/picture-loader.ts';
import { pictureRoute } from './pictures/picture-route.ts';
import { type AnsweringOptions, answering } from './serve/cached-answers.ts';
import { backendValidities, type Lifetimes } from './serve/lifetime.ts';

export interface AppOptions extends Omit<FrontOptions, 'chainIds'> {
  readonly publicUrl?: string | undefined;
  readonly cache: {
    readonly maxBytes: number;
    /** Second cache layer; memory alone when absent. */
    readonly store?: CacheStoreOptions | undefined;
    /** Longest wait of a request for a Redis, in milliseconds; the default of `openSecondLayer` when absent. */
    readonly patienceMs?: number | undefined;
    readonly lifetimes: Lifetimes;
  };
  /** Free space that the cache and the indexes leave on their disks. */
  readonly diskSpace?: DiskSpaceSettings;
  readonly fallback: { readonly timeoutMs: number; readonly staggerMs: number };
  /** Base URL of the gateway for `ipfs://` links of NFTs, without a trailing slash. */
  readonly ipfsGateway: string;
  /** Exceptions for other hosts that NFTs link to; none when absent. */
  readonly linkedHosts?: LinkedHostRules | undefined;
  readonly validateResponses: boolean;
}

const CONTRACTS = [explorerContract, insightsContract] as const;
/** Part of the cache key: answers in another contract version's shape must not be served. */
const CONTRACT_VERSION = hash('sha256', JSON.stringify(CONTRACTS.map(({ document }) => document)));
const TITLE = 'tollgate data service';
/** One description covers documents 1 and 2 (Decision 93). */
const describe = () =>
  mergedDocument(TITLE, [
    withExamples(explorerContract),
    withExamples(insightsContract),
    withExamples(dataServiceContract),
  ]);

/**
 * Serves opened chains from a front, with one cache. Resolves to a function that stops serving, to be called after the
 * front has closed. Rejects when the cache cannot be opened.
 */
export async function serveChains(
  chains: readonly Chain[],
  front: DataFront,
  { checks, disk, ...options }: AppOptions & { checks: Readonly<Record<string, Check>>; disk: DiskSpace },
): Promise<() => Promise<void>> {
  const { fallback, clock, log, metrics, validateResponses } = options;
  const { store, patienceMs, lifetimes, maxBytes } = options.cache;
  const publicUrl = options.publicUrl ?? front.url;
  const observers = { metrics, clock, log };
  const second =
    store && (await openSecondLayer(store, { version: CONTRACT_VERSION, patienceMs, disk, ...observers }));
  try {
    const cache = responseCache({ maxBytes, second, clock });
    const handlers = dataHandlers({
      chains,
      cache,
      lifetimes,
      ...fallback,
      publicHost: new URL(publicUrl).hostname,
      clock,
      log,
      metrics,
    });
    const description = descriptionHandlers(describe, () => publicUrl);
    await docsRoutes(front.plain, TITLE);
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
      pictureRoute(front.plain, { chains, sources: { getTokenInstance, getNft }, pictures });
    }
    front.serve({
      checks,
      routes: [
        await mount({ contract: explorerContract, handlers: operations, validateResponses }),
        await mount({ contract: insightsContract, handlers: handlers.insights, validateResponses }),
        await mount({
          contract: dataServiceContract,
          handlers: {
            listChains: chainsHandler(chains),
            getDescription: description.json,
            getDescriptionYaml: description.yaml,
          },
          validateResponses,
        }),
      ],
    });
    return async () => {
      await handlers.close();
      await pictures.close();
      await cache.flush();
      await second?.close();
    };
  } catch (error) {
    await second?.close();
    throw error;
  }
}

export interface DataHandlersOptions
  extends Omit<AnswererOptions, 'answering'>,
    Omit<AnsweringOptions, 'validities' | 'loadTimeoutMs'>,
    Pick<InsightsOptions, 'publicHost'> {}

/** Handlers of both families over the same chains and one cache. */
export interface DataHandlers {
  /** Makes handlers from the policies of document 1. */
  readonly serve: Serve;
  readonly insights: Handlers<InsightsOperations>;
  /** Aborts running loads. To be called after the last request. */
  close(): Promise<void>;
}

/** Deadline of a load, as a multiple of one back end's deadline: so many back ends may time out in turn. */
const LOAD_TIMEOUTS = 3;

/** Time of a load beyond that of a query, for the next back end's refusal and for writing the answer. */
const LOAD_MARGIN_MS = 2_000;

/** Creates the handlers of both families. */
export function dataHandlers(options: DataHandlersOptions): DataHandlers {
  const answers = answering({
    ...options,
    validities: backendValidities(options.chains),
    loadTimeoutMs: Math.max(options.timeoutMs * LOAD_TIMEOUTS, QUERY_TIMEOUT_MS + LOAD_MARGIN_MS),
  });
  const answered = { ...options, answering: answers };
  return { serve: answerer(answered), insights: insights(answered), close: answers.close };
}
