import type { Caller, Encoded } from '../contract/operations.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Clock } from '../lib/clock.ts';
import { toJson } from '../lib/json.ts';
import type { Logger } from '../lib/logger.ts';
import { represent } from '../lib/representation.ts';
import type { Entry } from './cache/entry.ts';
import { cacheKey } from './cache/key.ts';
import { reloads } from './cache/reloads.ts';
import type { ResponseCache } from './cache/response-cache.ts';
import { singleFlight } from './cache/single-flight.ts';
import { askChain } from './chains/ask-chain.ts';
import type { Chain } from './chains/chain.ts';
import { type Found, isPassing, NothingFound } from './chains/outcome.ts';
import { failureOf } from './failure.ts';
import { type CacheResult, headersOf } from './headers.ts';
import { type Lifetimes, lifetimeOf } from './lifetime.ts';
import { observed } from './observer.ts';
import type { BodyOf, OperationId, RequestOf, Validity } from './port/backend.ts';
import type { Row } from './row.ts';
import { type Selection, select } from './selection.ts';

export interface AnswererOptions {
  readonly chains: readonly Chain[];
  readonly cache: ResponseCache;
  readonly lifetimes: Lifetimes;
  /** How long one back end may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly staggerMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** What the handler of one data operation takes and answers. */
export type DataHandler<Id extends OperationId> = (
  request: RequestOf<Id> & { path: object; query: { chain_id?: number; cursor?: string } },
  caller: Caller,
) => Promise<{ status: 200; headers: Record<string, string>; encoded: Encoded<BodyOf<Id>> }>;

/** Makes the handler of one operation from its row. */
export type Serve = <Id extends OperationId>(id: Id, row: Row) => DataHandler<Id>;

/** Deadline of a whole load, as a multiple of one back end's: so many may hang one after another. */
const LOAD_TIMEOUTS = 3;

/**
 * The way of every data request: key, cache, then one load per key over chains and back ends. The load has its own
 * deadline, so that a client hanging up fails nobody else.
 */
export function answerer(options: AnswererOptions): Serve {
  const { chains, cache, clock, log, metrics } = options;
  const validities = new Map(
    chains.flatMap(chain => chain.backends.map(backend => [backend.name, () => backend.validity?.()])),
  );
  const flight = singleFlight<Loaded>();
  const mayReload = reloads(clock);
  const plans = new WeakMap<object, Plan>();

  return (id, row) => async (request, caller) => {
    const { selection, key } = planOf(id, request);
    const kept = await cache.get(key);
    const forced = kept !== undefined && asksForReload(caller) && mayReload(key, kept.storedAt);
    if (kept !== undefined && !forced && isFresh(kept, validities, clock.now())) return serve(kept, 'HIT');
    try {
      const { entry, stored } = await flight(`${key} ${moment(selection)} ${forced}`, () =>
        load(options, { id, row, request, selection, key }),
      );
      return serve(entry, forced || !stored ? 'BYPASS' : 'MISS');
    } catch (error) {
      if (!(error instanceof NothingFound)) throw error;
      const failure = failureOf(error.failures, error);
      if (failure.status === 501 && !error.failures.some(isPassing))
        log.warn({ operation: id }, 'no configured back end answers this operation');
      if (kept !== undefined && (failure.status === 502 || failure.status === 504))
        return serve(kept, 'STALE');
      throw failure;
    }
  };

  /** Whoever asks after a block has become visible does not join a load from before it. */
  function moment({ chains: asked }: Selection): string {
    return asked
      .flatMap(({ backends }) => backends.map(backend => backend.validity?.().revision ?? ''))
      .join();
  }

  /** Equal targets come as the very same request, so its way is worked out once. */
  function planOf(
    id: string,
    request: { path: object; query: { chain_id?: number; cursor?: string } },
  ): Plan {
    const before = plans.get(request);
    if (before !== undefined) return before;
    const selection = select(chains, request.query);
    const ids = selection.chains.map(chain => chain.id);
    const plan = { selection, key: cacheKey(id, ids, request) };
    plans.set(request, plan);
    return plan;
  }

  function serve(entry: Entry, result: CacheResult) {
    metrics.cacheResult(result.toLowerCase());
    const headers = headersOf(entry, result, clock.now());
    return { status: 200 as const, headers, encoded: { representation: entry.representation } };
  }
}

interface Plan {
  readonly selection: Selection;
  readonly key: string;
}

interface Loaded {
  readonly entry: Entry;
  readonly stored: boolean;
}

interface Load<Id extends OperationId> {
  readonly id: Id;
  readonly row: Row;
  readonly request: RequestOf<Id> & { path: object };
  readonly selection: Selection;
  readonly key: string;
}

async function load<Id extends OperationId>(options: AnswererOptions, wanted: Load<Id>): Promise<Loaded> {
  const { clock, cache, lifetimes } = options;
  const { id, row, key } = wanted;
  const found = await find(options, wanted);
  const representation = await represent(toJson(found.answer.body));
  const entry: Entry = {
    representation,
    chainId: found.chain.id,
    backend: found.backend.name,
    ...lifetimeOf(id, row, found, lifetimes, clock.now()),
  };
  return { entry, stored: await cache.set(key, entry) };
}

function find<Id extends OperationId>(
  options: AnswererOptions,
  wanted: Load<Id>,
): Promise<Found<BodyOf<Id>>> {
  const { clock, staggerMs, timeoutMs, metrics, log } = options;
  const { id, row, request, selection } = wanted;
  const { position } = selection;
  return row.strategyFor(request.path)<BodyOf<Id>>({
    chains: selection.chains,
    staggerMs,
    clock,
    signal: AbortSignal.timeout(timeoutMs * LOAD_TIMEOUTS),
    isNothing: body => position === undefined && row.isNothing?.(body) === true,
    askChain: (chain, signal) =>
      askChain(
        chain,
        (backend, until) => {
          const answer = backend.answers[id];
          if (answer === undefined) return undefined;
          const ask = position === undefined ? { signal: until } : { signal: until, position };
          return observed({ metrics, log }, backend, answer(request, ask));
        },
        { signal, timeoutMs },
      ),
  });
}

function isFresh(
  entry: Entry,
  validities: ReadonlyMap<string, () => Validity | undefined>,
  now: number,
): boolean {
  if (now >= entry.freshUntil) return false;
  if (entry.epoch === undefined) return true;
  const validity = validities.get(entry.backend)?.();
  return (
    validity?.epoch === entry.epoch && (entry.revision === undefined || validity.revision === entry.revision)
  );
}

function asksForReload({ headers }: Caller): boolean {
  return String(headers['cache-control'] ?? '')
    .toLowerCase()
    .includes('no-cache');
}
