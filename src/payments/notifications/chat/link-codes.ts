import { createHash } from 'node:crypto';
import { randomBase62 } from '#lib/ids.ts';

/** How long a link works. Document 3, "Messenger link". */
export const LINK_LIFETIME_MS = 15 * 60_000;

const TOKEN_LENGTH = 32;
/** What pressing start on a link writes to the bot. */
const START_LINK = /^\/start link_([0-9A-Za-z]{32})$/;

/** What a link to the bot carries: 190 bits, so nobody finds one by trying. */
export function newLinkToken(): string {
  return randomBase62(TOKEN_LENGTH);
}

/** What is kept of a token. A plain hash is enough for something that long. */
export function linkTokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** The deep link that opens the bot and, when start is pressed there, hands it the token. */
export function linkUrl(botName: string, token: string): string {
  return `https://t.me/${botName}?start=link_${token}`;
}

/** The token in what was written to the bot; undefined for anything else. */
export function startedToken(text: string): string | undefined {
  return START_LINK.exec(text.trim())?.[1];
}
