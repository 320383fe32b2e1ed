import { LRUCache } from 'lru-cache';
import { type PaymentsErrorCode, paymentsError } from '#contract/contracts/payments-errors.ts';
import type { IncomingRequest } from '#contract/mount/request-gate.ts';
import type { Db } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import type { Client } from '#http/client-address.ts';
import { type ClockAndLog, logAndGoOn } from '#lib/logger.ts';
import { type ApiKey, hashOfKey, isWellFormedKey, type Permission } from '../../keys/api-key.ts';
import { apiKeyStore, type KeyHolder, TOUCH_INTERVAL_MS } from '../../keys/api-key-store.ts';
import type { Owner, SessionDefaults, Tier } from '../../model/owner.ts';
import { countHeaders, type RateLimits, tooMany } from './rate-limits.ts';

const REMEMBERED_USES = 10_000;
const REMEMBERED_SECRETS = 10_000;

export interface AuthenticatorOptions extends ClockAndLog {
  readonly db: Db;
  readonly limits: RateLimits;
}

/** Key or member of a request, read for every request, so that a revoked key or a removed member is refused at once. */
export interface Credential extends Owner {
  /** Id of the key or the member, by which requests are counted. */
  readonly id: string;
  readonly kind: 'api_key' | 'member';
  readonly permission: Permission;
  /** True when it may decide where money goes: owners, and keys with the permission `admin` (Decision 413). */
  readonly isOwner: boolean;
  /** True when a passkey has to confirm the member before changes of people and of where money goes (Decision 417). */
  readonly mustConfirm: boolean;
  readonly tier: Tier;
  readonly merchant: SessionDefaults;
}

declare module 'koa' {
  interface DefaultState {
    /**
     * Authenticates a request to the payments API in place of its headers. Set for requests with another credential,
     * such as a dashboard session.
     */
    authenticate?: () => Promise<Credential>;
  }
}

/** Reason for refusing a credential. */
export interface AuthFailure {
  readonly code: PaymentsErrorCode;
  readonly message: string;
}

interface Identified {
  readonly credential: Credential;
}

/** Finds and checks the credentials of requests. Each method counts a refusal by address. */
export interface Authenticator {
  /** The key of a request, or what its state holds in place of one. @throws HttpError as `refuse` */
  ofRequest(request: IncomingRequest): Promise<Credential>;
  /**
   * Looks up a secret, unless a limit already refuses its key or member, or unknown secrets of the client (Decision 278). A
   * refused request costs no query.
   * @throws HttpError 429, or as `find`
   */
  lookUp<Identity extends Identified>(
    secret: string,
    client: Client,
    find: () => Promise<Identity>,
  ): Promise<Identity>;
  /** @throws HttpError 401 with the failure's code, or 429 after too many failures from one address */
  refuse(failure: AuthFailure, client: Client): Promise<never>;
}

/** Creates an authenticator that reads the keys from the database. */
export function authenticator(options: AuthenticatorOptions): Authenticator {
  const { db, clock, limits } = options;
  const noteUse = useNotes(options);
  /** Ids of the keys and members of accepted secrets, by hash. */
  const callerIds = new LRUCache<string, string>({ max: REMEMBERED_SECRETS });

  return { ofRequest, lookUp, refuse };

  async function ofRequest({ state, headers, client }: IncomingRequest): Promise<Credential> {
    if (state.authenticate !== undefined) return state.authenticate();
    const secret = secretOf(headers);
    return typeof secret === 'string' ? ofSecret(secret, client) : refuse(secret, client);
  }

  async function ofSecret(secret: string, client: Client): Promise<Credential> {
    if (!isWellFormedKey(secret)) return refuse(MALFORMED, client);
    const { credential } = await lookUp(secret, client, async () => ({
      credential: await accept(await apiKeyStore(db).findBySecret(secret), client),
    }));
    return credential;
  }

  async function lookUp<Identity extends Identified>(
    secret: string,
    client: Client,
    find: () => Promise<Identity>,
  ): Promise<Identity> {
    const hash = hashOfKey(secret).toString('base64');
    const refusal = limits.beforeLookUp(callerIds.get(hash), client);
    if (refusal !== undefined) throw tooMany(refusal, clock.now());
    try {
      const found = await find();
      callerIds.set(hash, found.credential.id);
      return found;
    } catch (refused) {
      callerIds.delete(hash); // an ended session, or a revoked key, counts as unknown from now on
      throw refused;
    }
  }

  /** Accepts the use of a key that is neither revoked nor expired. @throws HttpError as `refuse` */
  async function accept(found: KeyHolder | undefined, client: Client): Promise<Credential> {
    if (found === undefined) return refuse(UNKNOWN, client);
    const now = clock.now();
    const fault = faultOf(found.key, now);
    if (fault !== undefined) return refuse(fault, client);
    noteUse(found.key, now);
    const { key, tier, merchant } = found;
    const { id, organizationId, mode, permission } = key;
    const isOwner = permission === 'admin';
    return {
      id,
      kind: 'api_key',
      organizationId,
      mode,
      permission,
      isOwner,
      mustConfirm: false,
      tier,
      merchant,
    };
  }

  async function refuse({ code, message }: AuthFailure, client: Client): Promise<never> {
    const count = await limits.countFailure(client);
    const now = clock.now();
    if (count?.isRefused === true) throw tooMany(count, now);
    throw paymentsError(code, message, {
      headers: {
        // RFC 9110, 11.6.1: a 401 names an accepted scheme.
        'WWW-Authenticate': 'Bearer',
        ...(count === undefined ? {} : countHeaders(count, now)),
      },
    });
  }
}

const MISSING: AuthFailure = {
  code: 'key_missing',
  message: 'Send an API key as Authorization: Bearer or as X-API-Key.',
};
const UNKNOWN: AuthFailure = { code: 'key_invalid', message: 'There is no such API key.' };
const MALFORMED: AuthFailure = {
  code: 'key_invalid',
  message: 'This is not an API key: check it for typing errors.',
};
const WRONG_SCHEME: AuthFailure = {
  code: 'key_invalid',
  message: 'Authorization accepts the scheme Bearer only.',
};
const TWO_KEYS: AuthFailure = {
  code: 'key_invalid',
  message: 'Authorization and X-API-Key hold different keys.',
};
const REVOKED: AuthFailure = { code: 'key_revoked', message: 'This API key was revoked.' };
const EXPIRED: AuthFailure = { code: 'key_expired', message: 'This API key has expired.' };

/** The key in the headers, or the fault in them. */
function secretOf({ authorization, 'x-api-key': plain }: IncomingRequest['headers']): string | AuthFailure {
  const token = authorization === undefined || authorization === '' ? '' : tokenOf(authorization);
  if (token === null) return WRONG_SCHEME;
  const bearer = token === '' ? undefined : token;
  // Node joins the values of a repeated header. The result is never a valid key.
  const other = plain === undefined || plain === '' ? undefined : String(plain);
  const secret = bearer ?? other;
  if (secret === undefined) return MISSING;
  if (bearer !== undefined && other !== undefined && bearer !== other) return TWO_KEYS;
  return secret;
}

/** The token of a Bearer header; null for another scheme. The letter case of the scheme is ignored. */
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

/** Records the use of a key in the background. The request neither waits for it nor fails with it. */
function useNotes({ db, log }: AuthenticatorOptions): (key: ApiKey, now: number) => void {
  // Concurrent requests all read the old time from the database, so recent writes are remembered here.
  const noted = new LRUCache<string, number>({ max: REMEMBERED_USES });
  return ({ id, lastUsedAt }, now) => {
    const last = Math.max(lastUsedAt ?? Number.NEGATIVE_INFINITY, noted.get(id) ?? Number.NEGATIVE_INFINITY);
    if (now - last < TOUCH_INTERVAL_MS) return;
    noted.set(id, now);
    // Serializable, like the transactions that revoke keys. PostgreSQL detects that two revocations depend on each
    // other only when every writer of these rows is serializable.
    transaction(db, handle => apiKeyStore(handle).touch(id, now)).catch(
      logAndGoOn(log, 'noting the use of an API key'),
    );
  };
}
