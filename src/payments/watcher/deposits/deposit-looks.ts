import type { Clock } from '#lib/clock.ts';
import {
  type DueDeposit,
  isLeftToLooks,
  lookSchedule,
  type WatchedDeposit,
} from '../../deposits/look-schedule.ts';
import { NATIVE_COIN, type PaymentChain } from '../../model/payment-chain.ts';
import { contractCoinsOf } from '../../store/cursor-store.ts';
import { type LaneResult, NOTHING_DONE } from '../look/lanes.ts';
import { changeInParts, confirmationsOf, type Look } from '../look/look.ts';
import { recordAll } from '../look/record.ts';
import type { Header } from '../node/node-view.ts';
import { scan } from '../node/scan.ts';
import { hasReached, watchedAddressesOf } from '../node/token-transfers.ts';
import { balanceWatch } from './balance-watch.ts';
import { MissingState } from './missing-state.ts';
import { BLOCKS_AGAIN, type BlockBefore, sweepReader } from './sweep-reader.ts';

interface DepositLooksDeps {
  readonly chain: PaymentChain;
  readonly clock: Clock;
  readonly lastBlockBefore: BlockBefore;
}

/** Least time between two looks at sweeps and balances, and calls for balances that one may cost. */
const EVERY_MS = 10_000;
const CALLS_PER_LOOK = 100;
/** Interval of reading all open addresses again. Between, only new ones are read. */
const READ_AGAIN_MS = 10 * 60_000;
/** Time for which a new address may not be visible yet: its transaction was open. */
const VISIBLE_AFTER_MS = 60_000;
/** Interval of scheduling the looks at addresses whose sessions have ended. */
const FOLLOW_EVERY_MS = 60_000;
/** Interval of the warning that balances cannot be read. */
const WARN_EVERY_MS = 60 * 60_000;
/** Ended addresses of one look, and blocks of their logs. */
const ENDED_AT_A_TIME = 500;
const BLOCKS_PER_REQUEST = 2_000;
const REQUESTS_PER_RUN = 20;

/**
 * Money at deposit addresses that the scan does not find: coins that contracts send where neither logs nor traces show them,
 * and whatever reaches the address of an ended session, for ever. Also records sweeps.
 */
export function depositLooks({ chain, clock, lastBlockBefore }: DepositLooksDeps) {
  const sweeps = sweepReader({ lastBlockBefore });
  const balances = balanceWatch({ clock, lastBlockBefore });
  const open = openDeposits({ chainId: chain.id, clock });
  let lookedAt = Number.NEGATIVE_INFINITY;
  let lookedHash: string | undefined;
  let followedAt = Number.NEGATIVE_INFINITY;
  let warnedAt = Number.NEGATIVE_INFINITY;
  /** Time of the block up to which the balances of all open addresses were noted as known; null when none are needed. */
  let known: number | null | undefined;
  /** True when the next look is to run again at the same head. */
  let isWaiting = false;

  /** The last block that has its confirmations, and whose transfers and sweeps are recorded. */
  async function lastWhole(look: Look, swept: number, hasReadAll: boolean): Promise<Header | undefined> {
    const { view, head, progress } = look;
    const scanned = hasReadAll ? head.number : (progress?.coinsBlock ?? progress?.blockNumber ?? -1);
    const number = Math.min(head.number - chain.confirmations, swept, scanned);
    return number < 0 ? undefined : (await view.headers([number])).get(number);
  }

  async function lookAtOpen(look: Look, end: Header): Promise<number> {
    if (!needsBalances(look, end.number)) {
      if (known !== null) look.note({ balancesTime: null });
      known = null;
      return 0;
    }
    await open.read(look);
    const most = open.hasSome() ? await balances.addressesFor(look, CALLS_PER_LOOK) : 0;
    const turn = open.next(most, end);
    const found = await balances.look(look, turn.addresses, end).catch(error => {
      // The balances of these are not known.
      open.beginAgain();
      throw error;
    });
    isWaiting = turn.isWholeUpTo === undefined;
    if (turn.isWholeUpTo !== undefined && turn.isWholeUpTo !== known) {
      known = turn.isWholeUpTo;
      look.note({ balancesTime: known });
    }
    return found;
  }

  /** Looks at ended addresses that are due, and at those that the merchant wants to see now. */
  async function lookAtDue(look: Look, end: Header): Promise<number> {
    const now = clock.now();
    const due = await lookSchedule(look.db, chain.id).due(now, ENDED_AT_A_TIME);
    if (due.length === 0) return 0;
    const read = await readLogs(look, due, end);
    if (!read.isWhole) return Math.max(read.changes, 1);
    const ofCoins = due.filter(one => one.tokenAddress === NATIVE_COIN);
    // A later look finds all that has come.
    const found = await balances.look(look, ofCoins, end).catch(error => warnOfState(look, error));
    await look.effect('record', async ({ handle }) => {
      const schedule = lookSchedule(handle, chain.id);
      const left = due.filter(one => isLeftToLooks(one, now)).map(one => one.address);
      await schedule.readUpTo(end.number, left);
      await schedule.leave(left);
      await schedule.lookAgain(due, now);
    });
    open.drop(due.filter(one => isLeftToLooks(one, now)));
    const hasMore = due.length === ENDED_AT_A_TIME;
    return read.changes + found + (hasMore ? 1 : 0);
  }

  /** Reads the transfers to addresses that are not watched in each block, from the block at which they were read last. */
  async function readLogs(
    look: Look,
    due: readonly DueDeposit[],
    end: Header,
  ): Promise<{ readonly isWhole: boolean; readonly changes: number }> {
    const behind = due.filter(one => one.lookedBlock !== null && one.lookedBlock < end.number);
    const addresses = behind.map(one => one.address);
    const watched = watchedAddressesOf(
      behind.map(one => ({ tokenAddress: one.tokenAddress, recipientAddress: one.address })),
    );
    const oldest = Math.min(end.number, ...behind.map(one => one.lookedBlock ?? end.number));
    let last = behind.length === 0 ? end.number : Math.max(-1, oldest - BLOCKS_AGAIN);
    let changes = 0;
    for (let count = 0; last < end.number; count++) {
      if (count === REQUESTS_PER_RUN) return { isWhole: false, changes };
      const range = { from: last + 1, to: Math.min(end.number, last + BLOCKS_PER_REQUEST) };
      const found = await scan(range, {
        ...look,
        chainId: chain.id,
        watched,
        skipped: new Set(),
        isSettled: () => false,
      });
      if (found === undefined || found.unsureFrom !== undefined || found.unread.length > 0)
        return { isWhole: false, changes };
      const recorded = await recordAll({ ...look, watched }, found.transfers);
      changes += recorded.changes;
      if (!recorded.isWhole) return { isWhole: false, changes };
      last = range.to;
      await look.effect('record', ({ handle }) => lookSchedule(handle, chain.id).readUpTo(last, addresses));
    }
    return { isWhole: true, changes };
  }

  function warnOfState({ log }: Look, error: unknown): 0 {
    if (!(error instanceof MissingState)) throw error;
    if (Math.abs(clock.now() - warnedAt) >= WARN_EVERY_MS) {
      warnedAt = clock.now();
      log.warn({ chainId: chain.id, err: error }, 'the balances of deposit addresses cannot be read');
    }
    return 0;
  }

  return {
    /** `hasReadAll` is true when the transfers of all blocks up to the head are recorded. */
    async run(look: Look, hasReadAll: boolean): Promise<LaneResult> {
      if (Math.abs(clock.now() - lookedAt) < EVERY_MS) {
        isWaiting ||= lookedHash !== look.head.hash;
        return NOTHING_DONE;
      }
      lookedAt = clock.now();
      lookedHash = look.head.hash;
      isWaiting = false;
      const { upTo, changes } = await sweeps.read(look);
      if (Math.abs(clock.now() - followedAt) >= FOLLOW_EVERY_MS) {
        followedAt = clock.now();
        const changed = await lookSchedule(look.db, chain.id).changed();
        await changeInParts(look, { name: 'record', rows: changed }, (part, { handle, now }) =>
          lookSchedule(handle, chain.id).follow(part, now),
        );
      }
      const end = await lastWhole(look, upTo, hasReadAll);
      if (end === undefined || confirmationsOf({ blockNumber: end.number }, look) < chain.confirmations)
        return { changes, isMoved: false };
      // Nodes without balances still show tokens.
      const found = await lookAtOpen(look, end).catch(error => warnOfState(look, error));
      return { changes: changes + found + (await lookAtDue(look, end)), isMoved: false };
    },
    /** True when the next look has to run again, although no block comes. */
    isWaiting: (): boolean => isWaiting,
    forget(): void {
      isWaiting = false;
      known = undefined;
      sweeps.forget();
      balances.forget();
      open.forget();
      followedAt = Number.NEGATIVE_INFINITY;
    },
  };
}

/** True for a block whose coins are read from transactions alone, which do not show those that contracts send. */
function needsBalances({ coinLogsFrom, progress }: Look, block: number): boolean {
  return !hasReached(block, coinLogsFrom) && contractCoinsOf(progress) !== 'traces';
}

/** Addresses for coins that are watched in each block, in memory and in turns. */
function openDeposits({ chainId, clock }: { readonly chainId: number; readonly clock: Clock }) {
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
