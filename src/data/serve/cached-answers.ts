import { LRUCache } from 'lru-cache';
import type { Caller, EncodedBody } from '../../contract/contracts/operations.ts';
import { HttpError } from '../../http/errors.ts';
import type { Metrics } from '../../http/metrics.ts';
import { ageS, type Coding, holdsForm, uncompressed, withForm } from '../../http/representation.ts';
import { preferredCoding } from '../../http/send.ts';
import type { Clock } from '../../lib/clock.ts';
import { toJson } from '../../lib/json.ts';
import type { ClockAndLog } from '../../lib/logger.ts';
import { waitingClients } from '../../lib/request-counters.ts';
import type { Entry } from '../cache/entry.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import type { Chain } from '../fallback/chain.ts';
import { type BackendValidities, type Lifetimes, REVALIDATION_MS } from './lifetime.ts';
import { type AnswerRequest, type Load, type LoadResult, loader } from './shared-load.ts';

export interface CachedAnswersOptions extends ClockAndLog {
  readonly cache: ResponseCache;
  readonly validities: BackendValidities;
  /** Deadline of a whole load, in milliseconds. */
  readonly loadTimeoutMs: number;
  readonly metrics: Metrics;
}

/** Options of the handlers of both families. */
export interface FamilyOptions extends ClockAndLog {
  /** In the order of the configuration. */
  readonly chains: readonly Chain[];
  readonly lifetimes: Lifetimes;
  /** Time limit of one back end, in milliseconds. */
  readonly timeoutMs: number;
  readonly metrics: Metrics;
}

/** Response of a handler. */
export interface HandlerResponse<Body> {
  readonly status: 200;
  readonly headers: Record<string, string>;
  readonly encoded: EncodedBody<Body>;
}

export interface CachedAnswers {
  answer<Body>(caller: Caller, wanted: AnswerRequest): Promise<HandlerResponse<Body>>;
  /** Aborts running loads. To be called after the last request. */
  close(): Promise<void>;
}

/**
 * Answers every data request: from the cache, else by one load per key. A moving answer that went stale recently is
 * sent at once and reloaded in the background (Decision 37). Any cached answer is sent while no back end can give a new
 * one (Decision 64).
 */
export function cachedAnswers(options: CachedAnswersOptions): CachedAnswers {
  const { cache, validities, clock, log, metrics } = options;
  const { load, close } = loader(options);
  const mayReload = reloads(clock);
  const outage = outages(clock);

  return {
    async answer(caller, wanted) {
      const { key } = wanted;
      const coding = preferredCoding(caller.headers['accept-encoding']);
      const { client } = caller;
      const send = (entry: Entry, result: CacheResult) => sent({ key, entry, coding }, result);
      const inMemory = cache.held(key);
      const isHit = inMemory !== undefined && isFresh(inMemory);
      const held = isHit ? inMemory : await cache.get(key);
      const forced = held !== undefined && asksForReload(caller) && mayReload(key, held.storedAt);
      if (held !== undefined && !forced) {
        if (isHit || isFresh(held)) return send(held, 'HIT');
        if (outage.isOn(key)) {
          outage.refresh(key, () => refresh({ ...wanted, coding, client }, held));
          return send(held, 'STALE');
        }
        if (held.revalidateUntil !== undefined && clock.now() < held.revalidateUntil) {
          // One load per key: concurrent requests start no other. A failure begins an outage, which paces retries.
          void refresh({ ...wanted, coding, client }, held);
          return send(held, 'STALE');
        }
      }
      try {
        const { entry, stored } = await attempt({ ...wanted, coding, client, forced }, held);
        return send(entry, forced || !stored ? 'BYPASS' : 'MISS');
      } catch (error) {
        if (held !== undefined && isOutage(error)) return send(held, 'STALE');
        throw error;
      }
    },
    close,
  };

  /** Loads, and records the start or end of an outage. */
  async function attempt(wanted: Load, held: Entry | undefined): Promise<LoadResult> {
    try {
      const loaded = await load(wanted);
      outage.ended(wanted.key);
      return loaded;
    } catch (failure) {
      if (held !== undefined && isOutage(failure)) outage.began(wanted.key, refreshAfterMs(failure));
      else outage.ended(wanted.key);
      throw failure;
    }
  }

  /** Reloads after the stale answer was sent. An expected failure reaches no client, so it is ignored. */
  async function refresh(wanted: Omit<Load, 'forced'>, held: Entry): Promise<void> {
    try {
      await attempt({ ...wanted, forced: false }, held);
    } catch (error) {
      if (error instanceof HttpError) return;
      log.error({ err: error, operation: wanted.operation }, 'reloading a stale answer failed');
    }
  }

  function isFresh(entry: Entry): boolean {
    if (clock.now() >= entry.freshUntil) return false;
    if (entry.epoch === undefined) return true;
    const validity = validities.of(entry.watched ?? entry.backends);
    return (
      validity?.epoch === entry.epoch &&
      (entry.revision === undefined || validity.revision === entry.revision)
    );
  }

  /** Sends an answer. An encoding that the entry lacks is made now and kept. */
  async function sent(answer: { key: string; entry: Entry; coding: Coding }, result: CacheResult) {
    const { key, entry, coding } = answer;
    const whole = holdsForm(entry.representation, coding) ? entry : await withFormKept(answer);
    const { representation } = whole;
    metrics.cacheResult(result.toLowerCase());
    const headers = headersOf(whole, result, clock.now());
    if (result !== 'HIT') return { status: 200 as const, headers, encoded: { representation } };
    const repeatable = { answer: whole, current: currentOf(key) };
    return { status: 200 as const, headers, encoded: { representation, repeatable } };
  }

  async function withFormKept({ key, entry, coding }: { key: string; entry: Entry; coding: Coding }) {
    const after = { ...entry, representation: await withForm(entry.representation, coding) };
    cache.replaceIfUnchanged(key, { before: entry, after });
    return after;
  }

  /** Captures only the key, because the entry may be evicted while the request target is remembered. */
  function currentOf(key: string): () => Entry | undefined {
    return () => {
      const entry = cache.held(key);
      return entry !== undefined && isFresh(entry) ? entry : undefined;
    };
  }
}

/** Answers every request by a load of its own, for walks whose pages hardly anyone asks for again. */
export function uncachedAnswers(loadTimeoutMs: number): Pick<CachedAnswers, 'answer'> {
  return {
    async answer({ client }, { make }) {
      const signal = AbortSignal.timeout(loadTimeoutMs);
      const { body, chainIds, backends } = await make(signal, waitingClients(client));
      const representation = uncompressed(Buffer.isBuffer(body) ? body : toJson(body));
      return { status: 200, headers: originOf({ chainIds, backends }), encoded: { representation } };
    },
  };
}

/** True when no back end could answer, for a reason that may be temporary. */
function isOutage(failure: unknown): failure is HttpError {
  return failure instanceof HttpError && [502, 503, 504].includes(failure.status);
}

function asksForReload({ headers }: Caller): boolean {
  return String(headers['cache-control'] ?? '')
    .toLowerCase()
    .includes('no-cache');
}

/** Origin of an answer: fresh from the cache, loaded, stale from the cache, or loaded past the cache. */
type CacheResult = 'HIT' | 'MISS' | 'STALE' | 'BYPASS';

/** Headers with the origin of an answer and the time that a client may cache it. */
function headersOf(entry: Entry, result: CacheResult, now: number): Record<string, string> {
  return {
    'X-Cache': result,
    Age: ageS(entry, now),
    'Cache-Control': cacheControlOf(entry, now),
    ...originOf(entry),
  };
}

function originOf({ chainIds, backends }: Pick<Entry, 'chainIds' | 'backends'>): Record<string, string> {
  return { 'X-Chain-Id': chainIds.join(', '), 'X-Backend': backends.join(', ') };
}

/** `max-age` is the whole lifetime, because caches subtract `Age` themselves (RFC 9111, 4.2). */
function cacheControlOf({ storedAt, freshUntil, revalidateUntil, final }: Entry, now: number): string {
  const maxAge = Math.floor((freshUntil - storedAt) / 1000);
  const isFresh = maxAge > 0 && now < freshUntil;
  if (final && isFresh) return `public, max-age=${maxAge}`;
  if (revalidateUntil !== undefined && maxAge > 0 && now < revalidateUntil)
    return `public, max-age=${maxAge}, stale-while-revalidate=${REVALIDATION_MS / 1000}`;
  return 'max-age=0, must-revalidate';
}

/** Minimum interval between forced reloads of an answer. */
const INTERVAL_MS = 10_000;
/** Maximum number of keys remembered. A key that is evicted early costs one more load or one more wait. */
const REMEMBERED = 10_000;

/** Rate-limits forced reloads. Returns true, and records the attempt, at most once per `INTERVAL_MS` and key. */
function reloads(clock: Clock): (key: string, storedAt: number) => boolean {
  const lastTries = new LRUCache<string, number>({ max: REMEMBERED });
  return (key, storedAt) => {
    const now = clock.now();
    if (now - Math.max(storedAt, lastTries.get(key) ?? storedAt) < INTERVAL_MS) return false;
    lastTries.set(key, now);
    return true;
  };
}

/** Time after a failed load in which the cached answer is sent without waiting for another load. */
const OUTAGE_MS = 30_000;
/** Minimum interval between refreshes during an outage, unless the back ends allow an earlier retry. */
const REFRESH_MS = 5_000;

/** Minimum interval until the next refresh. A failure with `Retry-After`, in seconds, may shorten it. */
function refreshAfterMs({ headers }: HttpError): number {
  const { 'Retry-After': seconds = Number.POSITIVE_INFINITY } = headers;
  return Math.min(REFRESH_MS, Number(seconds) * 1000);
}

interface Outage {
  /** UTC milliseconds. */
  readonly failedAt: number;
  readonly refreshedAt: number | undefined;
  readonly refreshAfterMs: number;
}

/** Keys with a cached answer that cannot be reloaded at the moment. */
interface Outages {
  /** Records that the load of a key failed, and the minimum interval until the next one. */
  began(key: string, refreshAfterMs: number): void;
  /** Records that the load of a key gave a result, which may be "not found". */
  ended(key: string): void;
  /** True when a load failed within the last 30 s, or a refresh after a failure is still running. */
  isOn(key: string): boolean;
  /** Runs the refresh unless one is running or was started within the minimum interval. `load` must not reject. */
  refresh(key: string, load: () => Promise<void>): void;
}

/** Tracks outages in memory, with a limited number of keys. */
function outages(clock: Clock): Outages {
  const known = new LRUCache<string, Outage>({ max: REMEMBERED });
  const refreshing = new Set<string>();
  return {
    began(key, refreshAfterMs) {
      known.set(key, { failedAt: clock.now(), refreshedAt: known.get(key)?.refreshedAt, refreshAfterMs });
    },
    ended: key => void known.delete(key),
    isOn(key) {
      const outage = known.get(key);
      return outage !== undefined && (refreshing.has(key) || clock.now() - outage.failedAt < OUTAGE_MS);
    },
    refresh(key, load) {
      const outage = known.get(key);
      const now = clock.now();
      if (outage === undefined || refreshing.has(key)) return;
      if (now - (outage.refreshedAt ?? 0) < outage.refreshAfterMs) return;
      known.set(key, { ...outage, refreshedAt: now });
      refreshing.add(key);
      void load().finally(() => refreshing.delete(key));
    },
  };
}
