import { LRUCache } from 'lru-cache';
import { type PaymentsErrorCode, paymentsError } from '#contract/contracts/payments-errors.ts';
import type { IncomingRequest } from '#contract/mount/request-gate.ts';
import type { Db } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import type { Clock } from '#lib/clock.ts';
import { type Logger, logAndGoOn } from '#lib/logger.ts';
import { type ApiKey, isWellFormedKey } from '../../keys/api-key.ts';
import { apiKeyStore, TOUCH_INTERVAL_MS } from '../../keys/api-key-store.ts';
import type { MerchantIdentity, Tier } from '../../model/owner.ts';
import { countHeaders, type RateLimits, tooMany } from './rate-limits.ts';

const REMEMBERED_USES = 10_000;

export interface AuthenticatorOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly limits: RateLimits;
  readonly log: Logger;
}

/** The key a request is sent with. It is looked up for each request, so that a revoked key is refused at once. */
export interface Credential {
  readonly key: ApiKey;
  readonly tier: Tier;
  readonly merchant: MerchantIdentity;
}

/**
 * Tells by its headers which key a request has. Requests without a valid one are counted by address.
 * @throws HttpError 401 key_missing, key_invalid, key_revoked or key_expired; 429 after too many of them
 */
export function authenticator(
  options: AuthenticatorOptions,
): (request: IncomingRequest) => Promise<Credential> {
  const { db, clock, limits } = options;
  const noteUse = useNotes(options);

  return async request => {
    const secret = secretOf(request.headers);
    const now = clock.now();
    if (typeof secret === 'string') {
      const found = await apiKeyStore(db).findBySecret(secret);
      const fault = found === undefined ? UNKNOWN : faultOf(found.key, now);
      if (found !== undefined && fault === undefined) {
        noteUse(found.key, now);
        return found;
      }
      return refuse(request, fault ?? UNKNOWN);
    }
    return refuse(request, secret);
  };

  async function refuse({ client }: IncomingRequest, { code, message }: AuthFailure): Promise<never> {
    const count = await limits.ofFailure(client);
    const now = clock.now();
    if (count?.isRefused === true) throw tooMany(count, now);
    throw paymentsError(code, message, {
      headers: {
        // RFC 9110, 11.6.1: a 401 names a way to do better.
        'WWW-Authenticate': 'Bearer',
        ...(count === undefined ? {} : countHeaders(count, now)),
      },
    });
  }
}

interface AuthFailure {
  readonly code: PaymentsErrorCode;
  readonly message: string;
}

const MISSING: AuthFailure = {
  code: 'key_missing',
  message: 'Send an API key as Authorization: Bearer or as X-API-Key.',
};
const UNKNOWN: AuthFailure = { code: 'key_invalid', message: 'There is no such API key.' };
const MALFORMED: AuthFailure = {
  code: 'key_invalid',
  message: 'This is no API key: check it for typing errors.',
};
const WRONG_SCHEME: AuthFailure = {
  code: 'key_invalid',
  message: 'Authorization takes the scheme Bearer only.',
};
const TWO_KEYS: AuthFailure = {
  code: 'key_invalid',
  message: 'Authorization and X-API-Key hold different keys.',
};
const REVOKED: AuthFailure = { code: 'key_revoked', message: 'This API key was revoked.' };
const EXPIRED: AuthFailure = { code: 'key_expired', message: 'This API key has expired.' };

/** The key that the headers hold, whose checksum is right, or what is wrong with them. */
function secretOf({ authorization, 'x-api-key': plain }: IncomingRequest['headers']): string | AuthFailure {
  const token = authorization === undefined || authorization === '' ? '' : tokenOf(authorization);
  if (token === null) return WRONG_SCHEME;
  const bearer = token === '' ? undefined : token;
  // Node joins the values of a header that is sent twice, and what comes of it is no key.
  const other = plain === undefined || plain === '' ? undefined : String(plain);
  const secret = bearer ?? other;
  if (secret === undefined) return MISSING;
  if (bearer !== undefined && other !== undefined && bearer !== other) return TWO_KEYS;
  return isWellFormedKey(secret) ? secret : MALFORMED;
}

/** What follows the scheme Bearer, which may be in any letter case; null for any other scheme. */
function tokenOf(authorization: string): string | null {
  return (
    /^bearer(?: +(.*))?$/i
      .exec(authorization)
      ?.slice(1)
      .map(token => token ?? '')[0] ?? null
  );
}

function faultOf({ revokedAt, expiresAt }: ApiKey, now: number): AuthFailure | undefined {
  if (revokedAt !== null) return REVOKED;
  return expiresAt !== null && expiresAt <= now ? EXPIRED : undefined;
}

/** Writes down that a key was used, beside the request: it neither waits for that nor fails with it. */
function useNotes({ db, log }: AuthenticatorOptions): (key: ApiKey, now: number) => void {
  // Of many requests at once each finds the old time in the database.
  const noted = new LRUCache<string, number>({ max: REMEMBERED_USES });
  return ({ id, lastUsedAt }, now) => {
    const last = Math.max(lastUsedAt ?? Number.NEGATIVE_INFINITY, noted.get(id) ?? Number.NEGATIVE_INFINITY);
    if (now - last < TOUCH_INTERVAL_MS) return;
    noted.set(id, now);
    // As strict as what decides by these rows, or PostgreSQL would not see that two revocations depend on one another.
    transaction(db, handle => apiKeyStore(handle).touch(id, now)).catch(
      logAndGoOn(log, 'noting the use of an API key'),
    );
  };
}
