import type { Clock } from '#lib/clock.ts';
import { lookSchedule, type WatchedDeposit } from '../../deposits/look-schedule.ts';
import type { Look } from '../look/look.ts';
import type { Header } from '../node/node-view.ts';

/** Interval of reading all open addresses again. Between, only new ones are read. */
const READ_AGAIN_MS = 10 * 60_000;
/** Time for which a new address may not be visible yet: its transaction was open. */
const VISIBLE_AFTER_MS = 60_000;

/** Addresses for coins that are watched in each block, in memory and in turns. */
export function openDeposits({ chainId, clock }: { readonly chainId: number; readonly clock: Clock }) {
  const known = new Map<string, WatchedDeposit>();
  let readAllAt = Number.NEGATIVE_INFINITY;
  let readAt = 0;
  /** Addresses of the turn that were not looked at yet, and the time of the block at which it began. */
  let left: readonly WatchedDeposit[] = [];
  let begunAt = 0;

  return {
    async read({ db }: Look): Promise<void> {
      const now = clock.now();
      const isAll = Math.abs(now - readAllAt) >= READ_AGAIN_MS;
      if (isAll) {
        known.clear();
        readAllAt = now;
      }
      const since = isAll ? 0 : readAt - VISIBLE_AFTER_MS;
      readAt = now;
      for (const one of await lookSchedule(db, chainId).watchedForCoins(since)) known.set(one.address, one);
    },
    /**
     * The next addresses, at most so many. With the last ones of a turn, the time of the block at which the turn began: the
     * balances of all are known up to it.
     */
    next(
      most: number,
      { time }: Pick<Header, 'time'>,
    ): { readonly addresses: readonly WatchedDeposit[]; readonly isWholeUpTo: number | undefined } {
      if (left.length === 0) {
        left = [...known.values()];
        begunAt = time;
      }
      const addresses = left.slice(0, most);
      left = left.slice(most);
      return { addresses, isWholeUpTo: left.length > 0 ? undefined : begunAt };
    },
    /** Has the next turn begin, with all addresses. */
    beginAgain(): void {
      left = [];
    },
    hasSome: (): boolean => known.size > 0,
    drop(deposits: readonly Pick<WatchedDeposit, 'address'>[]): void {
      for (const { address } of deposits) known.delete(address);
    },
    forget(): void {
      known.clear();
      left = [];
      readAllAt = Number.NEGATIVE_INFINITY;
    },
  };
}
