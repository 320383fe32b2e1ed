import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '#lib/clock.ts';
import { newToken } from './session-cookie.ts';
import { hashOfToken } from './session-store.ts';

/** A token that opens one session of a key. */
export interface OneTimeToken {
  /** For the address that is printed. */
  readonly token: string;
  /** The id of the key, for whoever has the token while it is worth something. Spends nothing. */
  keyOf(token: string): string | undefined;
  /** The same for the first one alone. */
  take(token: string): string | undefined;
}

/** How long a token is worth something, in milliseconds. */
const LIFETIME_MS = 15 * 60_000;

/** Makes a token of this process for a key. Only its hash stays in memory, for 15 minutes (Decision 247). */
export function oneTimeToken(keyId: string, clock: Clock): OneTimeToken {
  const token = newToken();
  const until = clock.now() + LIFETIME_MS;
  let hash: Buffer | undefined = hashOfToken(token);
  const keyOf = (given: string) => {
    const isWorthIt = hash !== undefined && clock.now() < until && timingSafeEqual(hash, hashOfToken(given));
    return isWorthIt ? keyId : undefined;
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
