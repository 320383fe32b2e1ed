import { timingSafeEqual } from 'node:crypto';
import { newToken } from '../../members/sign-in-address.ts';
import type { Seals } from '../../secrets/sealed.ts';

/** A token, and its HMAC-SHA-256. Both are 32 bytes in base64url. */
const SIGNED = /^([\w-]{43})\.([\w-]{43})$/;
const COLUMN = { table: 'member_sessions', column: 'token_hash' } as const;

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
