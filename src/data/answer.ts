import type { Caller, Encoded } from '../contract/operations.ts';
import { HttpError } from '../http/errors.ts';
import type { Entry } from './cache/entry.ts';
import { cacheKey } from './cache/key.ts';
import { reloads } from './cache/reloads.ts';
import type { Chain } from './chains/chain.ts';
import { isPassing, NothingFound } from './chains/outcome.ts';
import { failureOf } from './failure.ts';
import { type CacheResult, headersOf } from './headers.ts';
import { type Load, type Loaded, type LoaderOptions, loader } from './load.ts';
import { outages } from './outages.ts';
import type { BodyOf, OperationId, RequestOf, Validity } from './port/backend.ts';
import type { Row } from './row.ts';
import { type Selection, select } from './selection.ts';

export interface AnswererOptions extends LoaderOptions {
  readonly chains: readonly Chain[];
}

/** What the handler of one data operation takes and answers. */
export type DataHandler<Id extends OperationId> = (
  request: RequestOf<Id> & { path: object; query: { chain_id?: number; cursor?: string } },
  caller: Caller,
) => Promise<{ status: 200; headers: Record<string, string>; encoded: Encoded<BodyOf<Id>> }>;

/** Makes the handler of one operation from its row. */
export type Serve = <Id extends OperationId>(id: Id, row: Row) => DataHandler<Id>;

export interface Answerer {
  readonly serve: Serve;
  /** Ends the loads that nobody waits for any more; to be called when requests are not accepted any longer. */
  close(): Promise<void>;
}

/** The way of every data request: key, cache, then one load per key over chains and back ends. */
export function answerer(options: AnswererOptions): Answerer {
  const { chains, cache, clock, log, metrics } = options;
  const validities = new Map(
    chains.flatMap(chain => chain.backends.map(backend => [backend.name, () => backend.validity?.()])),
  );
  const { load, close } = loader(options);
  const mayReload = reloads(clock);
  const outage = outages(clock);
  const plans = new WeakMap<object, Plan>();

  const serve: Serve = (id, row) => async (request, caller) => {
    const { selection, key } = planOf(id, request);
    const kept = await cache.get(key);
    const held = kept !== undefined && clock.now() < kept.keepUntil ? kept : undefined;
    const forced = held !== undefined && asksForReload(caller) && mayReload(key, held.storedAt);
    const wanted = { id, row, request, selection, key, held, forced };
    if (held !== undefined && !forced) {
      if (isFresh(held, validities, clock.now())) return send(held, 'HIT');
      if (outage.isOn(key)) {
        outage.refresh(key, () => refresh(wanted));
        return send(held, 'STALE');
      }
    }
    try {
      const { entry, stored } = await attempt(wanted);
      return send(entry, forced || !stored ? 'BYPASS' : 'MISS');
    } catch (error) {
      if (held !== undefined && isOutage(error)) return send(held, 'STALE');
      throw error;
    }
  };
  return { serve, close };

  /** Loads and takes note of whether that can be done at the moment. Rejects with what a client is to hear. */
  async function attempt<Id extends OperationId>(wanted: Load<Id>): Promise<Loaded> {
    const { key, held, id } = wanted;
    try {
      const loaded = await load(wanted);
      outage.ended(key);
      return loaded;
    } catch (error) {
      const failure = error instanceof NothingFound ? failureOf(error.failures, error) : error;
      if (held !== undefined && isOutage(failure)) outage.began(key);
      else outage.ended(key);
      if (error instanceof NothingFound && isGap(error, failure))
        log.warn({ operation: id }, 'no configured back end answers this operation');
      throw failure;
    }
  }

  /** Behind an answer that went out already, so there is nobody to tell of a failure that was to be expected. */
  async function refresh<Id extends OperationId>(wanted: Load<Id>): Promise<void> {
    try {
      await attempt(wanted);
    } catch (error) {
      if (error instanceof HttpError) return;
      log.error({ err: error, operation: wanted.id }, 'making a stale answer anew failed');
    }
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

  function send(entry: Entry, result: CacheResult) {
    metrics.cacheResult(result.toLowerCase());
    const headers = headersOf(entry, result, clock.now());
    return { status: 200 as const, headers, encoded: { representation: entry.representation } };
  }
}

interface Plan {
  readonly selection: Selection;
  readonly key: string;
}

/** Nobody could answer, for a reason that may be gone in a moment. */
function isOutage(failure: unknown): boolean {
  return failure instanceof HttpError && (failure.status === 502 || failure.status === 504);
}

/** No back end will ever answer this: the configuration lacks one. */
function isGap({ failures }: NothingFound, failure: unknown): boolean {
  return failure instanceof HttpError && failure.status === 501 && !failures.some(isPassing);
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
