import { DAY_MS } from '../../lib/clock.ts';
import type { Channel } from '../model/notification.ts';
import type { NotSent } from './messages/not-sent.ts';

/** Waits before the second try and those after it, in milliseconds: a mail is tried five times. Decision 128. */
export const MAIL_WAITS_MS = [60_000, 5 * 60_000, 30 * 60_000, 2 * 3_600_000] as const;
/** The same of a message while the messenger does not say when; it ends with `MESSAGE_LIFETIME_MS`. */
const MESSAGE_WAITS_MS = [5_000, 30_000, 2 * 60_000, 10 * 60_000] as const;
/** After so long nobody wants to be told any more that a payment came, in milliseconds. */
export const MESSAGE_LIFETIME_MS = DAY_MS;

/** When to try again after a failure, in UTC milliseconds; null for never. */
export function nextTry(
  notice: { readonly channel: Channel; readonly attempts: number; readonly createdAt: number },
  { kind, retryAfterMs }: Pick<NotSent, 'kind' | 'retryAfterMs'>,
  now: number,
): number | null {
  if (kind !== 'unavailable') return null;
  const { channel, attempts, createdAt } = notice;
  if (channel === 'email') {
    const wait = MAIL_WAITS_MS[attempts - 1];
    return wait === undefined ? null : now + wait;
  }
  if (now - createdAt >= MESSAGE_LIFETIME_MS) return null;
  return now + (retryAfterMs ?? MESSAGE_WAITS_MS[attempts - 1] ?? MESSAGE_WAITS_MS[3]);
}
