import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '#lib/clock.ts';
import { hashOfToken } from './sign-in-store.ts';
import { newToken } from './sign-in-tokens.ts';

/** One-time token that opens a sign-in of a key. */
export interface OneTimeToken {
  /** Value for the printed URL. */
  readonly token: string;
  /** Id of the key for a valid token. Does not use the token up. */
  keyOf(token: string): string | undefined;
  /** Like `keyOf`, but uses the token up. */
  take(token: string): string | undefined;
}

/** Lifetime of a token, in milliseconds. */
const LIFETIME_MS = 15 * 60_000;

/** Makes a token for a key. Only its hash is kept, in memory and for 15 minutes (Decision 247). */
export function oneTimeToken(keyId: string, clock: Clock): OneTimeToken {
  const token = newToken();
  const until = clock.now() + LIFETIME_MS;
  let hash: Buffer | undefined = hashOfToken(token);
  const keyOf = (given: string) => {
    const isValid = hash !== undefined && clock.now() < until && timingSafeEqual(hash, hashOfToken(given));
    return isValid ? keyId : undefined;
  };
  return {
    token,
    keyOf,
    take(given) {
      const taken = keyOf(given);
      if (taken !== undefined) hash = undefined;
      return taken;
    },
  };
}
