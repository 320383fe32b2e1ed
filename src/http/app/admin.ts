import { isIP } from 'node:net';
import Koa, { type Context, type Middleware } from 'koa';
import type { Registry } from 'prom-client';
import { inTime } from '#lib/in-time.ts';
import type { Logger } from '#lib/logger.ts';
import { HttpError, messageOnly } from '../errors.ts';
import { healthRoutes, type ReadinessCheck } from '../health.ts';
import { plainRouter } from '../plain-router.ts';
import { errorAnswers, logUnsent } from './error-answers.ts';
import { requestId } from './request-state.ts';
import { checkTarget } from './request-target.ts';

const STATUS_PATIENCE_MS = 2_000;
/** RFC 9110, 15.5.20. */
const MISDIRECTED = 421;

/** Reads the state of one service, as JSON. */
export type StatusReader = () => Promise<object>;

/**
 * App of the operator's listener: `GET /metrics`, `GET /status` with the state of each service by name, and `GET
 * /healthz` and `/readyz` for all roles of the process. Its requests are neither logged nor counted.
 */
export function createAdminApp({
  metrics,
  log,
  checks = () => ({}),
  isLeaving,
  status = {},
  hosts = [],
}: {
  metrics: { readonly registry: Pick<Registry, 'metrics' | 'contentType'> };
  log: Logger;
  /** Readiness checks of the process, by role and name. */
  checks?: () => Readonly<Record<string, ReadinessCheck>>;
  /** See `healthRoutes`. */
  isLeaving?: (() => boolean) | undefined;
  status?: Readonly<Record<string, StatusReader>>;
  /** Names by which the operator reaches this listener, besides addresses and private names (Decision 276). */
  hosts?: readonly string[];
}): Koa {
  const app = new Koa();
  app.on('error', logUnsent(log, 'an answer to the operator could not be sent'));
  app.use(requestId(log));
  app.use(errorAnswers(messageOnly));
  app.use(checkTarget);
  const isKnown = hostJudge(hosts);
  const fromKnownHost: Middleware = ({ req: { headers } }, next) => {
    if (headers.host === undefined || isKnown(headers.host)) return next();
    throw new HttpError(MISDIRECTED, 'The Host header has a name that admin.hosts does not list');
  };
  // Patterns, because the router matches paths given as text in any case and with a trailing slash.
  const plain = plainRouter()
    .all(/^\/status$/, fromKnownHost, ctx => sendStatus(ctx, status))
    .all(/^\/metrics$/, fromKnownHost, async ctx => {
      ctx.body = await metrics.registry.metrics();
      ctx.set('Content-Type', metrics.registry.contentType);
      ctx.set('Cache-Control', 'no-store');
    });
  healthRoutes(plain, { checks, isLeaving });
  app.use(plain.routes());
  return app;
}

/** Sends the states of all services, with 503 when one of them cannot be read. */
async function sendStatus(ctx: Context, status: Readonly<Record<string, StatusReader>>): Promise<void> {
  const { states, isWhole } = await statusOf(status, ctx.state.log);
  ctx.set('Cache-Control', 'no-store');
  ctx.body = states;
  ctx.status = isWhole ? 200 : 503;
}

/** Reads the states of services by name. `isWhole` is false when one cannot be read. */
export async function statusOf(
  status: Readonly<Record<string, StatusReader>>,
  log: () => Logger,
): Promise<{ states: Readonly<Record<string, object>>; isWhole: boolean }> {
  let isWhole = true;
  const states = Object.entries(status).map(async ([name, read]): Promise<[string, object]> => {
    try {
      return [name, await inTime(read(), STATUS_PATIENCE_MS)];
    } catch (error) {
      log().warn({ err: error, service: name }, 'the state of a service cannot be read');
      isWhole = false;
      return [name, { error: 'not available' }];
    }
  });
  return { states: Object.fromEntries(await Promise.all(states)), isWhole };
}

/** Ends of names that cannot be registered. Source: RFC 6761, RFC 6762, RFC 8375; ICANN resolution 2024.07.29.06. */
const PRIVATE_ENDS = ['.localhost', '.local', '.home.arpa', '.internal'];
const NAME_AND_PORT = /^(?<name>[^:]*?)\.?(?::\d*)?$/;
const ADDRESS_6 = /^\[(?<address>[^\]]*)\](?::\d*)?$/;

/**
 * Returns a test for Host headers: true for an IP address, for a name that no stranger can register, and for the given
 * names, of which `*.example.com` stands for all names below one. A page of any other name reaches this server only if
 * its owner points the name here, so that the page may read the answers (DNS rebinding).
 */
function hostJudge(names: readonly string[]): (host: string) => boolean {
  const exact = new Set(names.filter(name => !name.startsWith('*')).map(lower));
  const ends = [
    ...PRIVATE_ENDS,
    ...names.filter(name => name.startsWith('*')).map(name => lower(name.slice(1))),
  ];

  return host => {
    const address = ADDRESS_6.exec(host)?.groups?.address;
    if (address !== undefined) return isIP(address) === 6;
    const name = lower(NAME_AND_PORT.exec(host)?.groups?.name ?? '');
    if (isIP(name) === 4 || exact.has(name)) return true;
    return name !== '' && (!name.includes('.') || ends.some(end => name.endsWith(end)));
  };
}

function lower(name: string): string {
  return name.toLowerCase();
}
