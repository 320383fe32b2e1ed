import type { Handle } from '../../db/open.ts';
import type { Clock } from '../../lib/clock.ts';
import type { PaidAddress } from '../model/payment-chain.ts';
import { watchedStore } from '../store/watched-store.ts';
import { type WatchedAddresses, watchedAddressesOf } from './node/token-transfers.ts';

/** Interval of reading all recipients again, because retention removes some. */
const READ_AGAIN_MS = 10 * 60_000;
/** Most recipients that one look marks as read. The next look reads the others again. */
const MARKED_PER_LOOK = 1_000;

/**
 * Watched recipients of a chain, kept in memory while this process leads. A look reads only recipients without
 * `read_at`: with 10,000 open sessions, reading and sorting all took half of a look at an unchanged head.
 *
 * Only the leader sets `read_at`, in its own transaction. A new leader reads all recipients, because another process
 * set it. Older versions do not know the column and leave it null, so their recipients are read too. The alternatives
 * are worse: every new session would write the one row of a change counter, and a notification may be lost.
 */
export function watchedAddresses({ chainId, clock }: { chainId: number; clock: Clock }) {
  let recipients: readonly PaidAddress[] = [];
  let known: WatchedAddresses | undefined;
  let readAllAt = 0;
  let unread: readonly PaidAddress[] = [];

  function use(all: readonly PaidAddress[]): WatchedAddresses {
    recipients = all;
    known = watchedAddressesOf(all);
    return known;
  }

  return {
    /**
     * Adds recipients that no leader has read yet. Returns the same object as before while the recipients are equal.
     */
    async read(handle: Handle, found: readonly PaidAddress[]): Promise<WatchedAddresses> {
      const now = clock.now();
      unread = found;
      if (known === undefined || Math.abs(now - readAllAt) >= READ_AGAIN_MS) {
        const all = await watchedStore(handle).recipients(chainId);
        readAllAt = now;
        return known !== undefined && isSame(known, recipients, all) ? known : use(all);
      }
      const { has } = known;
      const added = unread.filter(one => !has(one.tokenAddress, one.recipientAddress));
      return added.length === 0 ? known : use([...recipients, ...added]);
    },

    /** True when the last `read` was given recipients to mark. */
    hasUnread: (): boolean => unread.length > 0,

    /** Marks the recipients of the last `read`, so that later looks skip them. Only within the leader's transaction. */
    async markRead(handle: Handle): Promise<void> {
      const some = unread.slice(0, MARKED_PER_LOOK);
      if (some.length > 0) await watchedStore(handle).markRead(chainId, some, clock.now());
    },

    /** Drops the memory, so that everything is read again: another process may have led. */
    forget(): void {
      known = undefined;
      unread = [];
    },
  };
}

function isSame(
  known: WatchedAddresses,
  before: readonly PaidAddress[],
  after: readonly PaidAddress[],
): boolean {
  return (
    before.length === after.length && after.every(one => known.has(one.tokenAddress, one.recipientAddress))
  );
}
