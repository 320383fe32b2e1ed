import { LRUCache } from 'lru-cache';
import { waitError, waitSeconds } from '#contract/contracts/payments-errors.ts';
import { type Db, isShared } from '#db/open.ts';
import { type Client, limitKey } from '#http/client-address.ts';
import type { HttpError } from '#http/errors.ts';
import type { Clock } from '#lib/clock.ts';
import {
  limitFields,
  memoryCounters,
  type RequestCount,
  type RequestCounter,
  type RequestCounters,
} from '#lib/request-counters.ts';
import type { Tier } from '#payments/model/owner.ts';
import { databaseCounters } from '#stores/database-counters.ts';

/** Requests per minute and key, by tier (Decision 105). */
export type KeyLimits = Readonly<Record<Tier, number>>;

/** Requests per minute and address without a valid key (Decision 105). */
const FAILURES_PER_ADDRESS = 30;
/** Requests of payers per minute and address (Decision 105). */
const PAYER_REQUESTS_PER_ADDRESS = 60;
/** Requests for the state of one checkout session per minute, from all its pages together (Decision 129). */
const STATES_PER_SESSION = 120;
/**
 * Requests for states per minute and address. Enough for all payers behind one address, too few to guess ids (Decision
 * 129).
 */
const STATES_PER_ADDRESS = 1_200;
/** Pages of the checkout per minute and address. Each state that a page shows is loaded as a page (Decision 105). */
export const PAGES_PER_ADDRESS = 300;
/** Wallets and claims per minute and checkout session (Decision 105). */
const PROOFS_PER_SESSION = 5;

/** Requests of the dashboard per minute and member (Decision 427). */
const REQUESTS_PER_MEMBER = 600;

/** Attempts to sign in to the dashboard per minute and address, successful ones included (Decision 252). */
const SIGN_INS_PER_ADDRESS = 60;

/** Counters of requests. Undefined for clients without a limit per address. */
export interface RateLimits {
  countKey(keyId: string, tier: Tier): Promise<RequestCount>;
  countMember(memberId: string): Promise<RequestCount>;
  /**
   * Refusal that a credential gets before it is looked up (Decision 278): that of its key or member, or that of an
   * unknown credential from an address with too many failures. Undefined for a credential to look up.
   */
  beforeLookUp(knownId: string | undefined, client: Client): RequestCount | undefined;
  countFailure(client: Client): Promise<RequestCount | undefined>;
  countPayer(client: Client): Promise<RequestCount | undefined>;
  countState(sessionId: string): Promise<RequestCount>;
  countStateReader(client: Client): Promise<RequestCount | undefined>;
  countSignIn(client: Client): Promise<RequestCount | undefined>;
  countPage(client: Client): Promise<RequestCount | undefined>;
  countSession(sessionId: string): Promise<RequestCount>;
}

export interface ApiRateLimitOptions {
  readonly counters?: RequestCounters | undefined;
  /** Milliseconds of a clock that is never set, by which refusals end. Like the counters' stores, it is not `Clock`. */
  readonly steady?: () => number;
  /** Requests of the dashboard per minute and member. */
  readonly perMember?: number;
}

/**
 * Creates the limits, which hold for all processes that share the counters. By default these are the processes on one
 * PostgreSQL (table `rate_limits` of the payments schema), or this process alone. As in the data service, a client on
 * this machine is not counted by address.
 */
export function rateLimits(
  db: Db,
  keys: KeyLimits,
  {
    counters = isShared(db) ? databaseCounters(db) : memoryCounters,
    steady = () => performance.now(),
    perMember = REQUESTS_PER_MEMBER,
  }: ApiRateLimitOptions = {},
): RateLimits {
  const byTier = {
    standard: remembering(counters('key', keys.standard), steady),
    elevated: remembering(counters('elevated_key', keys.elevated), steady),
  };
  const members = remembering(counters('member', perMember), steady);
  const failures = remembering(counters('failure', FAILURES_PER_ADDRESS), steady);
  const mayGuess = sparingly(steady);
  const payers = counters('payer', PAYER_REQUESTS_PER_ADDRESS);
  const states = counters('state', STATES_PER_SESSION);
  const stateReaders = counters('state_reader', STATES_PER_ADDRESS);
  const pages = counters('page', PAGES_PER_ADDRESS);
  const signIns = counters('sign_in', SIGN_INS_PER_ADDRESS);
  const sessions = counters('session', PROOFS_PER_SESSION);
  const byAddress = async (counter: RequestCounter, client: Client) => {
    const key = limitKey(client);
    return key === undefined ? undefined : counter(key);
  };
  return {
    countKey: (keyId, tier) => byTier[tier].count(keyId),
    countMember: members.count,
    beforeLookUp(knownId, client) {
      if (knownId !== undefined) {
        const counters = [byTier.standard, byTier.elevated, members];
        return counters.map(one => one.standing(knownId)).find(refusal => refusal !== undefined);
      }
      const address = limitKey(client);
      if (address === undefined) return undefined;
      const refusal = failures.standing(address);
      return refusal === undefined || mayGuess(address) ? undefined : refusal;
    },
    countFailure: client => byAddress(failures.count, client),
    countPayer: client => byAddress(payers, client),
    countState: states,
    countStateReader: client => byAddress(stateReaders, client),
    countSignIn: client => byAddress(signIns, client),
    countPage: client => byAddress(pages, client),
    countSession: sessions,
  };
}

/** Headers with the state of a limit (Decisions 105 and 325); `now` is UTC ms. */
export function countHeaders(count: RequestCount, now: number): Readonly<Record<string, string>> {
  const [state, policy] = limitFields(count);
  return {
    'X-RateLimit-Limit': String(count.limit),
    'X-RateLimit-Remaining': String(count.remaining),
    'X-RateLimit-Reset': String(Math.ceil((now + count.msLeft) / 1000)),
    RateLimit: state,
    'RateLimit-Policy': policy,
  };
}

/** Answer to a request beyond a limit: 429 with the time to wait in headers and message. */
export function tooMany(count: RequestCount, now: number): HttpError {
  const wording = (wait: string) => `Rate limit exceeded. Retry after ${wait}.`;
  return waitError(count.msLeft, wording, countHeaders(count, now));
}

/** Key or member of a request. */
interface CountedCaller {
  readonly id: string;
  readonly kind: 'api_key' | 'member';
  readonly tier: Tier;
}

type CallerLimits = Pick<RateLimits, 'countKey' | 'countMember'>;

/** Counts a request by its key or member. */
export function countCaller(limits: CallerLimits, { id, kind, tier }: CountedCaller): Promise<RequestCount> {
  return kind === 'member' ? limits.countMember(id) : limits.countKey(id, tier);
}

/** Counts a request by its key or member. The returned function throws HttpError 429 beyond the limit. */
export function callerAdmission(limits: CallerLimits, clock: Clock) {
  return async (caller: CountedCaller) => {
    const count = await countCaller(limits, caller);
    if (count.isRefused) throw tooMany(count, clock.now());
    return countHeaders(count, clock.now());
  };
}

/** Counts a page of the checkout. Does not throw, because a refusal is a page as well. */
export function pageAdmission({ countPage }: Pick<RateLimits, 'countPage'>, clock: Clock) {
  return async (client: Client) => {
    const count = await countPage(client);
    if (count === undefined) return { headers: {}, waitSeconds: undefined };
    const headers = countHeaders(count, clock.now());
    if (!count.isRefused) return { headers, waitSeconds: undefined };
    const seconds = waitSeconds(count.msLeft);
    return { headers: { ...headers, 'Retry-After': String(seconds) }, waitSeconds: seconds };
  };
}

/** Maximum number of remembered names. An evicted one is counted once more. */
const MAX_NAMES = 10_000;

/** Counter that remembers its refusals until their minute ends. */
interface RememberingCounter {
  readonly count: RequestCounter;
  /** Refusal of a name that still stands. The look-up counts nothing and needs no store. */
  standing(name: string): RequestCount | undefined;
}

/** Adds a memory of its refusals to a counter. */
function remembering(counter: RequestCounter, steady: () => number): RememberingCounter {
  const refusals = new LRUCache<string, { readonly count: RequestCount; readonly until: number }>({
    max: MAX_NAMES,
  });
  return {
    async count(name) {
      const count = await counter(name);
      if (count.isRefused) refusals.set(name, { count, until: steady() + count.msLeft });
      return count;
    },
    standing(name) {
      const refusal = refusals.get(name);
      if (refusal === undefined) return undefined;
      const msLeft = refusal.until - steady();
      return msLeft > 0 ? { ...refusal.count, msLeft } : undefined;
    },
  };
}

/** Time in which an address beyond its failures regains one look-up of an unknown credential, in milliseconds. */
const LOOK_UP_EVERY_MS = 500;
/** Look-ups in a row, so that a client that fails now and then does not block its neighbours' valid credentials. */
const LOOK_UPS_IN_A_ROW = 10;

/** Returns a test that allows a name ten uses in a row, and two per second after that. */
function sparingly(steady: () => number): (name: string) => boolean {
  /** Time at which all uses of a name will be regained. */
  const regainedAt = new LRUCache<string, number>({ max: MAX_NAMES });
  return name => {
    const now = steady();
    const next = Math.max(regainedAt.get(name) ?? 0, now) + LOOK_UP_EVERY_MS;
    if (next - now > LOOK_UP_EVERY_MS * LOOK_UPS_IN_A_ROW) return false;
    regainedAt.set(name, next);
    return true;
  };
}
