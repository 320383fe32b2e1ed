import { randomBytes } from 'node:crypto';
import type { IncomingRequest } from '#contract/mount/request-gate.ts';
import type { Client } from '#http/client-address.ts';

/** How long a session lasts, in milliseconds, whatever is done with it. Decision 244. */
export const SESSION_LIFETIME_MS = 12 * 60 * 60_000;

const PLAIN_NAME = 'tollgate_dashboard';
const TOKEN_BYTES = 32;
/** 32 bytes in base64url. */
const TOKEN = /^[\w-]{43}$/;

/** A new value that cannot be guessed: 256 random bits. */
export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** True for what `newToken` could have made. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Writes and reads the session cookie (Decision 245). `publicUrl` tells by its scheme that every client comes by https. */
export function sessionCookie(publicUrl: string) {
  return {
    /** `Set-Cookie` with a new value. */
    set: (token: string, client: Client): string =>
      cookie(token, client, Math.floor(SESSION_LIFETIME_MS / 1000)),

    /** `Set-Cookie` that removes the cookie. */
    remove: (client: Client): string => cookie('', client, 0),

    /** The value that a request has; undefined without one, and for two of them, of which one may be from elsewhere. */
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

  /** With this prefix browsers take the cookie from https only (RFC 6265bis, 4.1.3.1). */
  function nameFor(client: Client): string {
    return isSecure(client) ? `__Secure-${PLAIN_NAME}` : PLAIN_NAME;
  }

  function isSecure({ protocol }: Client): boolean {
    return protocol === 'https' || publicUrl.startsWith('https:');
  }
}
