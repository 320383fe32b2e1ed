import type { Handle } from '../../db/open.ts';
import type { Clock } from '../../lib/clock.ts';
import type { DepositAddress } from '../model/payment-chain.ts';
import { watchedStore } from '../store/watched-store.ts';
import { type Places, places } from './node/token-transfers.ts';

/** Interval of reading everything again, because retention removes recipients. */
const READ_AGAIN_MS = 10 * 60_000;
/** Recipients that one look marks; the others are read again by the next one. */
const MARKED_PER_LOOK = 1_000;

/**
 * Watched places of a chain, kept in memory while this process leads. A round reads only places without `read_at`
 * (Decision 260): with 10,000 open sessions, reading and sorting all of them was half of a round at an unchanged head.
 *
 * Only the leader sets `read_at`, in its own transaction. A process that becomes the leader reads everything, because
 * another one set it. A version without that column leaves it empty, so its recipients are read as well. A counter of
 * changes would be one row that every new session writes, and a notification may be lost.
 */
export function watchedPlaces({ chainId, clock }: { chainId: number; clock: Clock }) {
  let recipients: readonly DepositAddress[] = [];
  let known: Places | undefined;
  let readAllAt = 0;
  let unread: readonly DepositAddress[] = [];

  function use(all: readonly DepositAddress[]): Places {
    recipients = all;
    known = places(all);
    return known;
  }

  return {
    /** `found` are those that no leader has read, read just before. Equal places are the same object until they are forgotten. */
    async read(handle: Handle, found: readonly DepositAddress[]): Promise<Places> {
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

    /** True when the last reading found recipients to mark. */
    hasUnread: (): boolean => unread.length > 0,

    /** Marks what the last reading found, so that the next one need not; only within the leader's transaction. */
    async markRead(handle: Handle): Promise<void> {
      const some = unread.slice(0, MARKED_PER_LOOK);
      if (some.length > 0) await watchedStore(handle).markRead(chainId, some, clock.now());
    },

    /** Has everything read again: another process may have led. */
    forget(): void {
      known = undefined;
      unread = [];
    },
  };
}

function isSame(known: Places, before: readonly DepositAddress[], after: readonly DepositAddress[]): boolean {
  return (
    before.length === after.length && after.every(one => known.has(one.tokenAddress, one.recipientAddress))
  );
}
