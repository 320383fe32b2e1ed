import type { IncomingRequest } from '#contract/mount/request-gate.ts';
import type { Db } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import type { Client } from '#http/client-address.ts';
import type { Clock } from '#lib/clock.ts';
import type { Authenticator, AuthFailure, Credential } from '#payments/api/gate/authenticate.ts';
import { apiKeyStore } from '#payments/keys/api-key-store.ts';
import type { Seals } from '#payments/secrets/sealed.ts';
import { signInStore } from './sign-in-store.ts';
import { signInTokens } from './sign-in-tokens.ts';

/** Sign-in with the key it is bound to. */
export interface SignIn {
  /** Value of the cookie. */
  readonly token: string;
  /** UTC milliseconds. */
  readonly expiresAt: number;
  readonly credential: Credential;
}

interface SignInsOptions {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly keys: Authenticator;
}

/** Most open sign-ins of one key. Opening another one ends the oldest (Decision 252). */
const SIGN_INS_PER_KEY = 50;

type Asking = Pick<IncomingRequest, 'headers' | 'client'>;

const MISSING: AuthFailure = {
  code: 'key_missing',
  message: 'You are not signed in to the dashboard.',
};
const ENDED: AuthFailure = { code: 'key_invalid', message: 'The session has ended: sign in again.' };
const ROLLED: AuthFailure = {
  code: 'key_revoked',
  message: 'This API key was rolled: sign in with the new key.',
};
const USED: AuthFailure = {
  code: 'key_invalid',
  message: 'This sign-in link was used before or is from an earlier run: sign in with an API key.',
};

export type DashboardSignIns = ReturnType<typeof dashboardSignIns>;

/** Opens, finds and ends sign-ins of the dashboard (Decision 244). */
export function dashboardSignIns({ db, seals, clock, publicUrl, keys }: SignInsOptions) {
  const cookie = signInCookie(publicUrl);
  const tokens = signInTokens(seals);

  return {
    cookie,

    /**
     * Sign-in of a request. Its key is looked up each time, so that the sign-in ends with the key.
     * @throws HttpError 401 or 429
     */
    async ofRequest(request: Asking): Promise<SignIn> {
      const { client } = request;
      const token = cookie.read(request);
      if (token === undefined) return keys.refuse(MISSING, client);
      if (!tokens.isOurs(token)) return keys.refuse(ENDED, client);
      return keys.lookUp(token, client, async () => {
        const stored = await signInStore(db).find(token, clock.now());
        if (stored === undefined) return keys.refuse(ENDED, client);
        const credential = await credentialOf(stored.keyId, request);
        return { token, expiresAt: stored.expiresAt, credential };
      });
    },

    /** Credential of the API key used for signing in. @throws HttpError 401 or 429 */
    async ofSecret(secret: string, request: Asking): Promise<Credential> {
      return unlessRolled(await keys.ofSecret(secret, request.client), request);
    },

    /** Credential of a one-time token's key; `keyId` is undefined for an invalid token. @throws HttpError 401 or 429 */
    ofOneTimeKey: (keyId: string | undefined, request: Asking): Promise<Credential> =>
      keyId === undefined ? keys.refuse(USED, request.client) : credentialOf(keyId, request),

    /** Opens a sign-in with a new token and replaces the browser's earlier sign-in. */
    async open(credential: Credential, request: Asking): Promise<SignIn> {
      const token = tokens.create();
      const before = cookie.read(request);
      const createdAt = clock.now();
      const expiresAt = createdAt + SIGN_IN_LIFETIME_MS;
      await transaction(db, async handle => {
        const store = signInStore(handle);
        if (before !== undefined) await store.remove(before);
        await store.removeOldest(credential.key.id, SIGN_INS_PER_KEY - 1);
        await store.insert(token, { keyId: credential.key.id, createdAt, expiresAt });
      });
      return { token, expiresAt, credential };
    },

    /** Ends one sign-in, or all sign-ins of its key. */
    async end({ token, credential }: SignIn, { everywhere }: { everywhere: boolean }): Promise<void> {
      await transaction(db, handle => {
        const store = signInStore(handle);
        return everywhere ? store.removeOfKey(credential.key.id) : store.remove(token);
      });
    },
  };

  async function credentialOf(keyId: string, request: Asking): Promise<Credential> {
    const found = await apiKeyStore(db).findHolder(keyId);
    return unlessRolled(await keys.accept(found, request.client), request);
  }

  async function unlessRolled(credential: Credential, { client }: Asking): Promise<Credential> {
    return credential.key.rolledAt === null ? credential : keys.refuse(ROLLED, client);
  }
}

/** Lifetime of a sign-in in milliseconds. Activity does not extend it (Decision 244). */
const SIGN_IN_LIFETIME_MS = 12 * 60 * 60_000;

const PLAIN_NAME = 'tollgate_dashboard';

/**
 * Writes and reads the sign-in cookie (Decision 245). If `publicUrl` has the scheme https, every client is assumed to
 * use https.
 */
function signInCookie(publicUrl: string) {
  return {
    /** `Set-Cookie` header with a new token. */
    set: (token: string, client: Client): string =>
      cookie(token, client, Math.floor(SIGN_IN_LIFETIME_MS / 1000)),

    /** `Set-Cookie` header that removes the cookie. */
    remove: (client: Client): string => cookie('', client, 0),

    /**
     * Token of a request. Undefined without a cookie, and for two cookies, because one of them may come from another
     * site.
     */
    read({ headers, client }: Pick<IncomingRequest, 'headers' | 'client'>): string | undefined {
      const beginning = `${nameFor(client)}=`;
      const values = (headers.cookie ?? '')
        .split(';')
        .map(pair => pair.trim())
        .filter(pair => pair.startsWith(beginning))
        .map(pair => pair.slice(beginning.length));
      return values.length === 1 ? values[0] : undefined;
    },
  };

  function cookie(value: string, client: Client, maxAgeS: number): string {
    const secure = isSecure(client) ? '; Secure' : '';
    return `${nameFor(client)}=${value}; Path=/dashboard; Max-Age=${maxAgeS}; HttpOnly; SameSite=Strict${secure}`;
  }

  /** Browsers accept a cookie with this prefix only over https (RFC 6265bis, 4.1.3.1). */
  function nameFor(client: Client): string {
    return isSecure(client) ? `__Secure-${PLAIN_NAME}` : PLAIN_NAME;
  }

  function isSecure({ protocol }: Client): boolean {
    return protocol === 'https' || publicUrl.startsWith('https:');
  }
}
