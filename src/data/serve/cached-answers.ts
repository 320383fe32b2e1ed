import { LRUCache } from 'lru-cache';
import type { Caller, EncodedBody } from '../../contract/contracts/operations.ts';
import { HttpError } from '../../http/errors.ts';
import type { Metrics } from '../../http/metrics.ts';
import { ageS, type Coding, holdsForm, withForm } from '../../http/representation.ts';
import { preferredCoding } from '../../http/send.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Entry } from '../cache/entry.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import { type BackendValidities, REVALIDATION_MS } from './lifetime.ts';
import { type AnswerRequest, type Load, type LoadResult, loader } from './shared-load.ts';

export interface AnsweringOptions {
  readonly cache: ResponseCache;
  readonly validities: BackendValidities;
  /** How long a whole load may take, in milliseconds. */
  readonly loadTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** What a handler answers. */
export interface HandlerResponse<Body> {
  readonly status: 200;
  readonly headers: Record<string, string>;
  readonly encoded: EncodedBody<Body>;
}

export interface CachedAnswers {
  answer<Body>(wanted: AnswerRequest, caller: Caller): Promise<HandlerResponse<Body>>;
  /** Ends the loads that nobody waits for any more; to be called when requests are not accepted any longer. */
  close(): Promise<void>;
}

/**
 * The way of every data request: cache, then one load per key. A moving answer that has just lost its freshness goes out
 * while it is made again behind it (Decision 37); any held answer goes out while no back end can make a new one
 * (Decision 64).
 */
export function answering(options: AnsweringOptions): CachedAnswers {
  const { cache, validities, clock, log, metrics } = options;
  const { load, close } = loader(options);
  const mayReload = reloads(clock);
  const outage = outages(clock);

  return {
    async answer(wanted, caller) {
      const { key } = wanted;
      const coding = preferredCoding(caller.headers['accept-encoding']);
      const send = (entry: Entry, result: CacheResult) => sent({ key, entry, coding }, result);
      const inMemory = cache.held(key);
      const isHit = inMemory !== undefined && isFresh(inMemory);
      const held = isHit ? inMemory : await cache.get(key);
      const forced = held !== undefined && asksForReload(caller) && mayReload(key, held.storedAt);
      if (held !== undefined && !forced) {
        if (isHit || isFresh(held)) return send(held, 'HIT');
        if (outage.isOn(key)) {
          outage.refresh(key, () => refresh({ ...wanted, coding }, held));
          return send(held, 'STALE');
        }
        if (held.revalidateUntil !== undefined && clock.now() < held.revalidateUntil) {
          // One load per key: whoever asks meanwhile starts no other. A failure begins an outage, which paces retries.
          void refresh({ ...wanted, coding }, held);
          return send(held, 'STALE');
        }
      }
      try {
        const { entry, stored } = await attempt({ ...wanted, coding, forced }, held);
        return send(entry, forced || !stored ? 'BYPASS' : 'MISS');
      } catch (error) {
        if (held !== undefined && isOutage(error)) return send(held, 'STALE');
        throw error;
      }
    },
    close,
  };

  /** Loads and takes note of whether that can be done at the moment. */
  async function attempt(wanted: Load, held: Entry | undefined): Promise<LoadResult> {
    try {
      const loaded = await load(wanted);
      outage.ended(wanted.key);
      return loaded;
    } catch (failure) {
      if (held !== undefined && isOutage(failure)) outage.began(wanted.key);
      else outage.ended(wanted.key);
      throw failure;
    }
  }

  /** Behind an answer that went out already, so there is nobody to tell of a failure that was to be expected. */
  async function refresh(wanted: Omit<Load, 'forced'>, held: Entry): Promise<void> {
    try {
      await attempt({ ...wanted, forced: false }, held);
    } catch (error) {
      if (error instanceof HttpError) return;
      log.error({ err: error, operation: wanted.operation }, 'making a stale answer anew failed');
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

  /** A form that nobody asked for before is made now and kept. */
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
    cache.gain(key, { before: entry, after });
    return after;
  }

  /** Holds the key alone: an entry may be evicted while its target is remembered. */
  function currentOf(key: string): () => Entry | undefined {
    return () => {
      const entry = cache.held(key);
      return entry !== undefined && isFresh(entry) ? entry : undefined;
    };
  }
}

/** Nobody could answer, for a reason that may be gone in a moment. */
function isOutage(failure: unknown): boolean {
  return failure instanceof HttpError && [502, 503, 504].includes(failure.status);
}

function asksForReload({ headers }: Caller): boolean {
  return String(headers['cache-control'] ?? '')
    .toLowerCase()
    .includes('no-cache');
}

/** Origin of an answer: kept and fresh, made now, kept past its freshness, or made now past the cache. */
type CacheResult = 'HIT' | 'MISS' | 'STALE' | 'BYPASS';

/** Headers that tell a client where an answer is from and how long it may keep it. */
function headersOf(entry: Entry, result: CacheResult, now: number): Record<string, string> {
  return {
    'X-Cache': result,
    Age: ageS(entry, now),
    'Cache-Control': cacheControlOf(entry, now),
    'X-Chain-Id': entry.chainIds.join(', '),
    'X-Backend': entry.backends.join(', '),
  };
}

/** `max-age` is the whole lifetime: a cache subtracts `Age` itself (RFC 9111, 4.2). */
function cacheControlOf({ storedAt, freshUntil, revalidateUntil, final }: Entry, now: number): string {
  const maxAge = Math.floor((freshUntil - storedAt) / 1000);
  const isFresh = maxAge > 0 && now < freshUntil;
  if (final && isFresh) return `public, max-age=${maxAge}`;
  if (revalidateUntil !== undefined && maxAge > 0 && now < revalidateUntil)
    return `public, max-age=${maxAge}, stale-while-revalidate=${REVALIDATION_MS / 1000}`;
  return 'max-age=0, must-revalidate';
}

/** How often a client may force the same answer to be made again. */
const INTERVAL_MS = 10_000;
/** Number of keys remembered. One that is forgotten early costs one more load or one more wait. */
const REMEMBERED = 10_000;

/** Says whether an answer stored at that time may be made again now, and takes note if so, whatever comes of it. */
function reloads(clock: Clock): (key: string, storedAt: number) => boolean {
  const lastTries = new LRUCache<string, number>({ max: REMEMBERED });
  return (key, storedAt) => {
    const now = clock.now();
    if (now - Math.max(storedAt, lastTries.get(key) ?? 0) < INTERVAL_MS) return false;
    lastTries.set(key, now);
    return true;
  };
}

/** How long after a failed load the held answer goes out without waiting for another one. */
const OUTAGE_MS = 30_000;
/** Shortest time from one refresh to the next. */
const REFRESH_MS = 5_000;

interface Outage {
  /** UTC milliseconds. */
  readonly failedAt: number;
  readonly refreshedAt: number | undefined;
}

/** The keys whose answers cannot be made anew at the moment, though an old one is held. */
interface Outages {
  /** The load of a key has just failed. */
  began(key: string): void;
  /** The load of a key has told something, be it that there is nothing. */
  ended(key: string): void;
  /** Whether a load failed within the last 30 s, or a refresh after one is still running. */
  isOn(key: string): boolean;
  /** Runs the refresh unless one is running or was started within the last 5 s. It has to take care of its own failures. */
  refresh(key: string, load: () => Promise<void>): void;
}

/** In memory, bounded, by `Clock`. */
function outages(clock: Clock): Outages {
  const known = new LRUCache<string, Outage>({ max: REMEMBERED });
  const refreshing = new Set<string>();
  return {
    began: key => void known.set(key, { failedAt: clock.now(), refreshedAt: known.get(key)?.refreshedAt }),
    ended: key => void known.delete(key),
    isOn(key) {
      const outage = known.get(key);
      return outage !== undefined && (refreshing.has(key) || clock.now() - outage.failedAt < OUTAGE_MS);
    },
    refresh(key, load) {
      const outage = known.get(key);
      const now = clock.now();
      if (outage === undefined || refreshing.has(key) || now - (outage.refreshedAt ?? 0) < REFRESH_MS) return;
      known.set(key, { ...outage, refreshedAt: now });
      refreshing.add(key);
      void load().finally(() => refreshing.delete(key));
    },
  };
}
