import { timingSafeEqual } from 'node:crypto';
import { newToken } from './session-cookie.ts';
import { hashOfToken } from './session-store.ts';

/** A token that opens one session of a key. */
export interface OneTimeToken {
  /** For the address that is printed. */
  readonly token: string;
  /** The id of the key, for the first one who has the token. */
  take(token: string): string | undefined;
}

/** Makes a token of this process for a key. Only its hash stays in memory (Decision 247). */
export function oneTimeToken(keyId: string): OneTimeToken {
  const token = newToken();
  let hash: Buffer | undefined = hashOfToken(token);
  return {
    token,
    take(given) {
      if (hash === undefined || !timingSafeEqual(hash, hashOfToken(given))) return undefined;
      hash = undefined;
      return keyId;
    },
  };
}
