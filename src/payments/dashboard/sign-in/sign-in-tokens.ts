import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Seals } from '../../secrets/sealed.ts';

const TOKEN_BYTES = 32;
/** A token, and its HMAC-SHA-256. Both are 32 bytes in base64url. */
const SIGNED = /^([\w-]{43})\.([\w-]{43})$/;
const COLUMN = { table: 'dashboard_sessions', column: 'token_hash' } as const;

/** New unguessable token of 256 random bits. */
export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Makes and recognizes tokens of sign-ins. They are signed, so that an invented one costs no query (Decision 245). */
export function signInTokens(seals: Pick<Seals, 'hash'>) {
  const signatureOf = (token: string) => seals.hash(token, COLUMN);
  return {
    create(): string {
      const token = newToken();
      return `${token}.${signatureOf(token)}`;
    },

    /** True for a token made by a process with the same secret key. Its sign-in may have ended. */
    isOurs(text: string): boolean {
      const [, token, signature] = SIGNED.exec(text) ?? [];
      if (token === undefined || signature === undefined) return false;
      return timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(token)));
    },
  };
}
