import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { waitError, waitSeconds } from '#contract/contracts/payments-errors.ts';
import { type Db, isShared } from '#db/open.ts';
import { type Client, limitKey } from '#http/client-address.ts';
import type { HttpError } from '#http/errors.ts';
import type { Clock } from '#lib/clock.ts';
import type { Tier } from '../../model/owner.ts';

/** Requests a minute and key, by tier. Decision 105. */
export type KeyLimits = Readonly<Record<Tier, number>>;

/** Requests a minute that come from one address without a valid key. Decision 105. */
export const FAILURES_PER_ADDRESS = 30;
/** The payer's requests a minute from one address. Decision 105. */
export const PAYER_REQUESTS_PER_ADDRESS = 60;
/** Requests for the state of one checkout session per minute, from all of its pages. Decision 129. */
export const STATES_PER_SESSION = 120;
/** Requests for states per minute and address: enough for all payers behind it, too few to guess ids. Decision 129. */
export const STATES_PER_ADDRESS = 1_200;
/** Pages of the checkout per minute and address. Each state that a page shows is a page of its own. Decision 105. */
export const PAGES_PER_ADDRESS = 300;
/** Wallets and claims a minute of one checkout session. Decision 105. */
export const PROOFS_PER_SESSION = 5;

/** Attempts to sign in to the dashboard per minute and address, whatever comes of them. Decision 252. */
export const SIGN_INS_PER_ADDRESS = 60;

const WINDOW_S = 60;
const TABLE = 'rate_limits';

/** What a limit says of one request. */
export interface Count {
  readonly limit: number;
  readonly remaining: number;
  /** When the minute ends, from now. */
  readonly msLeft: number;
  readonly isRefused: boolean;
}

/** Counts requests by whom they come from; undefined where they are not counted. */
export interface RateLimits {
  ofKey(keyId: string, tier: Tier): Promise<Count>;
  ofFailure(client: Client): Promise<Count | undefined>;
  ofPayer(client: Client): Promise<Count | undefined>;
  ofState(sessionId: string): Promise<Count>;
  ofStateReader(client: Client): Promise<Count | undefined>;
  ofSignIn(client: Client): Promise<Count | undefined>;
  ofPage(client: Client): Promise<Count | undefined>;
  ofSession(sessionId: string): Promise<Count>;
}

/**
 * Limits of all processes on one PostgreSQL together, else of this process; also while the database does not answer.
 * The table is `rate_limits` of the payments schema. A client on this machine is not counted by its address, as in the data service.
 */
export function rateLimits(db: Db, keys: KeyLimits): RateLimits {
  const byTier = {
    standard: limit(db, 'key', keys.standard),
    elevated: limit(db, 'elevated_key', keys.elevated),
  };
  const failures = limit(db, 'failure', FAILURES_PER_ADDRESS);
  const payers = limit(db, 'payer', PAYER_REQUESTS_PER_ADDRESS);
  const states = limit(db, 'state', STATES_PER_SESSION);
  const stateReaders = limit(db, 'state_reader', STATES_PER_ADDRESS);
  const pages = limit(db, 'page', PAGES_PER_ADDRESS);
  const signIns = limit(db, 'sign_in', SIGN_INS_PER_ADDRESS);
  const sessions = limit(db, 'session', PROOFS_PER_SESSION);
  const byAddress = async (counter: Counter, client: Client) => {
    const key = limitKey(client);
    return key === undefined ? undefined : counter(key);
  };
  return {
    ofKey: (keyId, tier) => byTier[tier](keyId),
    ofFailure: client => byAddress(failures, client),
    ofPayer: client => byAddress(payers, client),
    ofState: states,
    ofStateReader: client => byAddress(stateReaders, client),
    ofSignIn: client => byAddress(signIns, client),
    ofPage: client => byAddress(pages, client),
    ofSession: sessions,
  };
}

type Counter = (name: string) => Promise<Count>;

function limit(db: Db, keyPrefix: string, points: number): Counter {
  const options = { keyPrefix, points, duration: WINDOW_S };
  const memory = new RateLimiterMemory(options);
  const limiter = isShared(db)
    ? new RateLimiterPostgres({
        ...options,
        storeClient: db,
        storeType: 'knex',
        tableName: TABLE,
        tableCreated: true,
        // Who goes on beyond the limit costs no statement until the minute ends.
        inMemoryBlockOnConsumed: points + 1,
        insuranceLimiter: memory,
      })
    : memory;

  return async name => {
    const [state, isRefused] = await limiter.consume(name).then(allowed, refused);
    return { limit: points, remaining: state.remainingPoints, msLeft: state.msBeforeNext, isRefused };
  };
}

function allowed(state: RateLimiterRes): [RateLimiterRes, boolean] {
  return [state, false];
}

/** The limiter rejects with its state when the points are used up, and with an error when it failed itself. */
function refused(reason: unknown): [RateLimiterRes, boolean] {
  if (reason instanceof RateLimiterRes) return [reason, true];
  throw reason;
}

/** The headers that tell how a request was counted (Decision 105); `now` is UTC ms. */
export function countHeaders(count: Count, now: number): Readonly<Record<string, string>> {
  return {
    'X-RateLimit-Limit': String(count.limit),
    'X-RateLimit-Remaining': String(count.remaining),
    'X-RateLimit-Reset': String(Math.ceil((now + count.msLeft) / 1000)),
  };
}

/** The answer to a request beyond a limit: 429 with the time to wait, in its headers and in its message. */
export function tooMany(count: Count, now: number): HttpError {
  const wording = (wait: string) => `Rate limit exceeded. Retry after ${wait}.`;
  return waitError(count.msLeft, wording, countHeaders(count, now));
}

/** Counts a request with those of its key. Its result throws HttpError 429 beyond the limit. */
export function keyAdmission({ ofKey }: Pick<RateLimits, 'ofKey'>, clock: Clock) {
  return async ({ key, tier }: { readonly key: { readonly id: string }; readonly tier: Tier }) => {
    const count = await ofKey(key.id, tier);
    if (count.isRefused) throw tooMany(count, clock.now());
    return countHeaders(count, clock.now());
  };
}

/** Counts a page of the checkout. Its refusal is a page as well, so this does not throw. */
export function pageAdmission({ ofPage }: Pick<RateLimits, 'ofPage'>, clock: Clock) {
  return async (client: Client) => {
    const count = await ofPage(client);
    if (count === undefined) return { headers: {}, waitSeconds: undefined };
    const headers = countHeaders(count, clock.now());
    if (!count.isRefused) return { headers, waitSeconds: undefined };
    const seconds = waitSeconds(count.msLeft);
    return { headers: { ...headers, 'Retry-After': String(seconds) }, waitSeconds: seconds };
  };
}
