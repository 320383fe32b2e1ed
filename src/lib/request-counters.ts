import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** State of a limit after a request was counted. */
export interface RequestCount {
  /** Requests per minute. */
  readonly limit: number;
  readonly remaining: number;
  /** Time until the current minute ends. */
  readonly msLeft: number;
  readonly isRefused: boolean;
}

/** Counts a request of the named client, key or session, or as many requests as given. */
export type RequestCounter = (name: string, requests?: number) => Promise<RequestCount>;

/**
 * Creates the counter of one limit. In a shared store, counters of the same `kind` share their counts across processes.
 */
export type RequestCounters = (kind: string, requestsPerMinute: number) => RequestCounter;

/** Length of the window in which requests are counted. */
export const WINDOW_S = 60;

/** Names of the structured fields of a limit, in the order of `limitFields`. */
export const LIMIT_FIELDS = ['RateLimit', 'RateLimit-Policy'] as const;

/** State and policy of a limit as structured fields. Source: draft-ietf-httpapi-ratelimit-headers-10 (Decision 325). */
export function limitFields({
  limit,
  remaining,
  msLeft,
}: Omit<RequestCount, 'isRefused'>): [state: string, policy: string] {
  return [`"minute";r=${remaining};t=${Math.ceil(msLeft / 1000)}`, `"minute";q=${limit};w=${WINDOW_S}`];
}

/** Counters in the memory of this process. */
export const memoryCounters: RequestCounters = (kind, requestsPerMinute) =>
  counterOf(
    new RateLimiterMemory({ keyPrefix: kind, points: requestsPerMinute, duration: WINDOW_S }),
    requestsPerMinute,
  );

/** Adapts a limiter of `rate-limiter-flexible`. */
export function counterOf(
  limiter: { consume(name: string, requests?: number): Promise<RateLimiterRes> },
  requestsPerMinute: number,
): RequestCounter {
  const countOf = ({ remainingPoints, msBeforeNext }: RateLimiterRes, isRefused: boolean) => ({
    limit: requestsPerMinute,
    remaining: remainingPoints,
    msLeft: msBeforeNext,
    isRefused,
  });
  const allowed = (state: RateLimiterRes) => countOf(state, false);
  /** The limiter rejects with its state when the points are used up, and with an error when it failed itself. */
  const refused = (reason: unknown) => {
    if (reason instanceof RateLimiterRes) return countOf(reason, true);
    throw reason;
  };
  return (name, requests = 1) => limiter.consume(name, requests).then(allowed, refused);
}

/** Client whose requests are counted. */
export interface CountedClient {
  /** Equal for all requests of the client. */
  readonly key: string;
  /** Counts the time that a query took for this client. */
  charge(ms: number): void;
}

/** Clients that wait for one answer. A client that is not counted is undefined. */
export interface WaitingClients {
  readonly all: Iterable<CountedClient | undefined>;
  join(client: CountedClient | undefined): void;
  /** Calls `onJoin` for each further client until the returned function is called. */
  watch(onJoin: (client: CountedClient | undefined) => void): () => void;
}

/** Starts with the client that asked first. */
export function waitingClients(first: CountedClient | undefined): WaitingClients {
  const byKey = new Map([[first?.key, first]]);
  const watching = new Set<(client: CountedClient | undefined) => void>();
  return {
    all: { [Symbol.iterator]: () => byKey.values() },
    join(client) {
      if (byKey.has(client?.key)) return;
      byKey.set(client?.key, client);
      for (const onJoin of [...watching]) onJoin(client);
    },
    watch(onJoin) {
      watching.add(onJoin);
      return () => void watching.delete(onJoin);
    },
  };
}
