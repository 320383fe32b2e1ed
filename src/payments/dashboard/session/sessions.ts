import type { IncomingRequest } from '#contract/mount/request-gate.ts';
import type { Db } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import type { Clock } from '#lib/clock.ts';
import type { Authenticator, AuthFailure, Credential } from '../../api/gate/authenticate.ts';
import { apiKeyStore } from '../../keys/api-key-store.ts';
import type { Seals } from '../../secrets/sealed.ts';
import { SESSION_LIFETIME_MS, sessionCookie } from './session-cookie.ts';
import { dashboardSessionStore } from './session-store.ts';
import { sessionTokens } from './session-tokens.ts';

/** Session with the key it is bound to. */
export interface DashboardSession {
  /** Value of the cookie. */
  readonly token: string;
  /** UTC milliseconds. */
  readonly expiresAt: number;
  readonly credential: Credential;
}

interface SessionsOptions {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly keys: Authenticator;
}

/** Most open sessions of one key. Opening another one ends the oldest (Decision 252). */
const SESSIONS_PER_KEY = 50;

type Asking = Pick<IncomingRequest, 'headers' | 'client'>;

const MISSING: AuthFailure = {
  code: 'key_missing',
  message: 'Sign in: there is no session of the dashboard.',
};
const ENDED: AuthFailure = { code: 'key_invalid', message: 'The session has ended: sign in again.' };
const ROLLED: AuthFailure = {
  code: 'key_revoked',
  message: 'This API key was rolled: sign in with the one that took its place.',
};
const USED: AuthFailure = {
  code: 'key_invalid',
  message: 'This address was used before or is of an earlier run: sign in with an API key.',
};

export type DashboardSessions = ReturnType<typeof dashboardSessions>;

/** Opens, finds and ends sessions of the dashboard (Decision 244). */
export function dashboardSessions({ db, seals, clock, publicUrl, keys }: SessionsOptions) {
  const cookie = sessionCookie(publicUrl);
  const tokens = sessionTokens(seals);

  return {
    cookie,

    /**
     * Session of a request. Its key is looked up each time, so that the session ends with the key.
     * @throws HttpError 401 or 429
     */
    async ofRequest(request: Asking): Promise<DashboardSession> {
      const { client } = request;
      const token = cookie.read(request);
      if (token === undefined) return keys.refuse(MISSING, client);
      if (!tokens.isOurs(token)) return keys.refuse(ENDED, client);
      return keys.lookUp(token, client, async () => {
        const stored = await dashboardSessionStore(db).find(token, clock.now());
        if (stored === undefined) return keys.refuse(ENDED, client);
        const credential = await ofKey(stored.keyId, request);
        return { token, expiresAt: stored.expiresAt, credential };
      });
    },

    /** Credential of the API key used for signing in. @throws HttpError 401 or 429 */
    async ofSecret(secret: string, request: Asking): Promise<Credential> {
      return unlessRolled(await keys.ofSecret(secret, request.client), request);
    },

    /** Credential of a one-time token's key; `keyId` is undefined for an invalid token. @throws HttpError 401 or 429 */
    ofOneTimeKey: (keyId: string | undefined, request: Asking): Promise<Credential> =>
      keyId === undefined ? keys.refuse(USED, request.client) : ofKey(keyId, request),

    /** Opens a session with a new token and replaces the browser's earlier session. */
    async open(credential: Credential, request: Asking): Promise<DashboardSession> {
      const token = tokens.create();
      const before = cookie.read(request);
      const createdAt = clock.now();
      const expiresAt = createdAt + SESSION_LIFETIME_MS;
      await transaction(db, async handle => {
        const store = dashboardSessionStore(handle);
        if (before !== undefined) await store.remove(before);
        await store.removeOldest(credential.key.id, SESSIONS_PER_KEY - 1);
        await store.insert(token, { keyId: credential.key.id, createdAt, expiresAt });
      });
      return { token, expiresAt, credential };
    },

    /** Ends one session, or all sessions of its key. */
    async end(
      { token, credential }: DashboardSession,
      { everywhere }: { everywhere: boolean },
    ): Promise<void> {
      await transaction(db, handle => {
        const store = dashboardSessionStore(handle);
        return everywhere ? store.removeOfKey(credential.key.id) : store.remove(token);
      });
    },
  };

  async function ofKey(keyId: string, request: Asking): Promise<Credential> {
    const found = await apiKeyStore(db).findHolder(keyId);
    return unlessRolled(await keys.accept(found, request.client), request);
  }

  async function unlessRolled(credential: Credential, { client }: Asking): Promise<Credential> {
    return credential.key.rolledAt === null ? credential : keys.refuse(ROLLED, client);
  }
}
