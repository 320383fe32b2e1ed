import { type Leadership, leadership } from '#db/leader.ts';
import type { Db } from '#db/open.ts';
import type { Clock } from '#lib/clock.ts';
import { watcherName } from '../model/payment-chain.ts';
import type { ChainShare } from './chain-share.ts';
import { LeadershipLost } from './round.ts';

interface WatchLeaseOptions {
  readonly db: Db;
  readonly chainId: number;
  readonly leaseMs: number;
  readonly clock: Clock;
  /** Absent where no other process watches. */
  readonly share?: ChainShare | undefined;
  readonly onElected: () => void;
}

/** The right to watch a chain, within the share of this process. */
export type WatchLease = ReturnType<typeof watchLease>;

/** One candidate's. What it remembers of the lease may be out of date; `leader.confirm` never is. */
export function watchLease({ db, chainId, leaseMs, clock, share, onElected }: WatchLeaseOptions) {
  const leader: Leadership = leadership(db, { name: watcherName(chainId), leaseMs, clock, onElected });
  let isLeading = false;
  let heldAt = 0;

  function lose(): void {
    isLeading = false;
    share?.leave(chainId);
  }

  async function resign(): Promise<void> {
    lose();
    await leader.resign();
  }

  return {
    leader,

    /**
     * Becomes or stays the leader, between two rounds. Hands a chain over that is beyond the share of this process. A lease
     * that was extended of late is not extended again: should another one have it, the first change finds that.
     */
    async hold(): Promise<boolean> {
      if (isLeading && share?.keeps(chainId) === false) {
        await resign();
        return false;
      }
      if (isLeading && Math.abs(clock.now() - heldAt) < leaseMs / 3) return true;
      if (!isLeading && share !== undefined && !(await share.admits(chainId, leader.isFree))) return false;
      if (await leader.hold()) isLeading = true;
      else lose();
      heldAt = clock.now();
      return isLeading;
    },

    /** True while no process leads the chain, which this one takes soon. */
    isWaiting: (): boolean => share?.isWaitingFor(chainId) ?? false,

    /** Says that a change extended the lease. */
    extendedAt(time: number): void {
      heldAt = time;
    },

    lose,
    resign,

    /**
     * Extends the lease when a third of it is over during a look, else after two thirds, when the next look is late.
     * Answers with when to call again, in milliseconds. @throws LeadershipLost, or why it cannot be extended
     */
    async renew(isLooking: boolean): Promise<number> {
      // A look may take long; the next one is soon, and renews by itself. The clock may have been set back since.
      const restMs = (isLooking ? leaseMs / 3 : (leaseMs * 2) / 3) - Math.abs(clock.now() - heldAt);
      if (!isLeading || restMs > 0) return Math.min(isLeading ? restMs : leaseMs, leaseMs / 3);
      try {
        if (!(await leader.renew()) && isLeading) throw new LeadershipLost('Another watcher leads.');
        heldAt = clock.now();
      } catch (error) {
        lose();
        throw error;
      }
      return leaseMs / 3;
    },
  };
}
