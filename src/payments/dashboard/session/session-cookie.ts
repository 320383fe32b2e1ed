import type { IncomingRequest } from '#contract/mount/request-gate.ts';
import type { Client } from '#http/client-address.ts';

/** Lifetime of a session in milliseconds. Activity does not extend it (Decision 244). */
export const SESSION_LIFETIME_MS = 12 * 60 * 60_000;

const PLAIN_NAME = 'tollgate_dashboard';

/**
 * Writes and reads the session cookie (Decision 245). If `publicUrl` has the scheme https, every client is assumed to
 * use https.
 */
export function sessionCookie(publicUrl: string) {
  return {
    /** `Set-Cookie` header with a new token. */
    set: (token: string, client: Client): string =>
      cookie(token, client, Math.floor(SESSION_LIFETIME_MS / 1000)),

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
