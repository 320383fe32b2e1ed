import { type Leadership, leadership } from '#db/leader.ts';
import type { Db } from '#db/open.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { watcherName } from '../model/payment-chain.ts';
import type { ChainShare } from './chain-share.ts';
import { LeadershipLost } from './look/look.ts';

interface WatchLeaseOptions {
  readonly db: Db;
  readonly chainId: number;
  readonly leaseMs: number;
  readonly clock: Clock;
  /** Absent when no other process watches. */
  readonly share?: ChainShare | undefined;
  readonly onElected: () => void;
  readonly log: Logger;
}

/** The exclusive right to watch a chain, within the share of this process. */
export type WatchLease = ReturnType<typeof watchLease>;

/** Longest time without a call or a change of a look, more than a node or a conflict in the database may take. */
const STILL_MS = 40_000;
/** Times that it has to be seen still, so that a computer that slept does not give its chains away. */
const STILL_TIMES = 5;

/** A look has not moved for so long that another process may try. */
export class LookStandsStill extends Error {
  override readonly name = 'LookStandsStill';
}

/** The lease as one candidate sees it. Its memory may be out of date; `leader.confirm` reads the database. */
export function watchLease({ db, chainId, leaseMs, clock, share, onElected, log }: WatchLeaseOptions) {
  const leader: Leadership = leadership(db, { name: watcherName(chainId), leaseMs, clock, onElected });
  let isLeading = false;
  let heldAt = 0;
  /** Calls of the look under way when it was last seen to move, at `movedAt`; undefined between looks. */
  let calls: number | undefined;
  let movedAt = 0;
  let stillTimes = 0;

  function move(): void {
    movedAt = clock.now();
    stillTimes = 0;
  }

  /** True while a look asks nodes for more, or changes something. */
  function moves(callsOfLook: number | undefined): boolean {
    if (callsOfLook === undefined || callsOfLook !== calls) {
      calls = callsOfLook;
      move();
    } else {
      stillTimes += 1;
    }
    return stillTimes < STILL_TIMES || Math.abs(clock.now() - movedAt) < STILL_MS;
  }

  function win(): void {
    if (!isLeading) log.info({ chainId }, 'lease won: this process watches the chain');
    isLeading = true;
  }

  function lose(): void {
    if (isLeading) log.info({ chainId }, 'lease lost: this process no longer watches the chain');
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
     * Becomes or stays the leader, between two looks. Hands over a chain beyond the share of this process. A recently
     * extended lease is not extended again: if another process has it, the first change fails.
     */
    async hold(): Promise<boolean> {
      if (isLeading && share?.keeps(chainId) === false) {
        await resign();
        return false;
      }
      if (isLeading && Math.abs(clock.now() - heldAt) < leaseMs / 3) return true;
      if (!isLeading && share !== undefined && !(await share.admits(chainId, leader.isFree))) return false;
      // A leader waits for its own changes, which may take longer than `hold` does.
      if ((isLeading && (await leader.renew())) || (await leader.hold())) win();
      else lose();
      heldAt = clock.now();
      return isLeading;
    },

    /** True while no process leads the chain and this one waits to take it. */
    isWaiting: (): boolean => share?.isWaitingFor(chainId) ?? false,

    /** True when a third of the lease has passed, so that the next change should extend it. */
    isDue: (): boolean => Math.abs(clock.now() - heldAt) >= leaseMs / 3,

    /** Records a change of a look, begun at `time`. */
    changed(time: number, { isExtended }: { readonly isExtended: boolean }): void {
      move();
      if (isExtended) heldAt = time;
    },

    lose,
    resign,

    /**
     * Extends the lease after a third of it during a look, and otherwise after two thirds, when the next look is late.
     * Gives it up when the look does not move. `callsOfLook` is the number of calls to nodes, undefined between looks.
     * Returns the milliseconds until the next call.
     * @throws LeadershipLost, LookStandsStill, or the error that kept it from extending the lease
     */
    async renew(callsOfLook: number | undefined): Promise<number> {
      const isLooking = callsOfLook !== undefined;
      if (!moves(callsOfLook) && isLeading) {
        await resign();
        throw new LookStandsStill(`The look at chain ${chainId} has not moved for ${STILL_MS / 1_000} s.`);
      }
      // A look may take long. Between looks, the next look extends the lease. `abs`: the clock may have been set back.
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
