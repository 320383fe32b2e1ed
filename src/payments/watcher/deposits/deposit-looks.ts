import { BaseError } from 'viem';
import type { Clock } from '#lib/clock.ts';
import { WrongChain } from '#node/transport/errors.ts';
import { lookSchedule } from '../../deposits/look-schedule.ts';
import type { PaymentChain } from '../../model/payment-chain.ts';
import { contractCoinsOf } from '../../store/cursor-store.ts';
import { type LaneResult, NOTHING_DONE } from '../look/lanes.ts';
import { changeInParts, type Look } from '../look/look.ts';
import type { Header } from '../node/node-view.ts';
import { hasReached } from '../node/token-transfers.ts';
import { balanceWatch } from './balance-watch.ts';
import { endedLooks, type LookEnds } from './ended-looks.ts';
import { MissingState } from './missing-state.ts';
import { openDeposits } from './open-deposits.ts';
import { rareWarnings } from './rare-warnings.ts';
import { type BlockBefore, sweepReader } from './sweep-reader.ts';

interface DepositLooksDeps {
  readonly chain: PaymentChain;
  readonly clock: Clock;
  readonly lastBlockBefore: BlockBefore;
}

/** Least time between two looks at sweeps and balances, and calls for balances that one may cost. */
const EVERY_MS = 10_000;
const CALLS_PER_LOOK = 100;
/** Interval of scheduling the looks at addresses whose sessions have ended. */
const FOLLOW_EVERY_MS = 60_000;

/**
 * Money at deposit addresses that the scan does not find: coins that contracts send where neither logs nor traces show them,
 * and whatever reaches the address of an ended session, for ever. Also records sweeps.
 */
export function depositLooks({ chain, clock, lastBlockBefore }: DepositLooksDeps) {
  const warn = rareWarnings({ clock });
  const sweeps = sweepReader({ lastBlockBefore });
  const balances = balanceWatch({ clock, lastBlockBefore });
  const ended = endedLooks({ chain, clock, balances, warn, warnOfState });
  const open = openDeposits({ chainId: chain.id, clock });
  let lookedAt = Number.NEGATIVE_INFINITY;
  let lookedHash: string | undefined;
  let followedAt = Number.NEGATIVE_INFINITY;
  /** Time of the block up to which the balances of all open addresses were noted as known; null when none are needed. */
  let known: number | null | undefined;
  /** True when the next look is to run again at the same head. */
  let isWaiting = false;

  /** The last block that has its confirmations, and whose transfers are recorded. */
  async function lastWhole(look: Look, hasReadAll: boolean): Promise<Header | undefined> {
    const { head, progress } = look;
    const scanned = hasReadAll ? head.number : (progress?.coinsBlock ?? progress?.blockNumber ?? -1);
    return headerOf(look, Math.min(head.number - chain.confirmations, scanned));
  }

  /** Sweeps that cannot be read stop balances only. */
  async function readSweeps(look: Look): Promise<{ readonly upTo: number; readonly changes: number }> {
    try {
      return await sweeps.read(look);
    } catch (error) {
      if (!(error instanceof BaseError) || error instanceof WrongChain) throw error;
      const facts = { chainId: chain.id, err: error };
      warn(look.log, 'sweeps', facts, 'the sweeps of deposit addresses cannot be read');
      return { upTo: sweeps.upTo(look) ?? -1, changes: 0 };
    }
  }

  function warnOfState({ log }: Look, error: unknown): 0 {
    if (!(error instanceof MissingState)) throw error;
    warn(log, 'state', { chainId: chain.id, err: error }, 'the balances of deposit addresses cannot be read');
    return 0;
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

  async function lookAtEnded(look: Look, ends: LookEnds): Promise<number> {
    const { changes, left } = await ended.look(look, ends);
    open.drop(left);
    return changes;
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
      const { upTo, changes } = await readSweeps(look);
      if (Math.abs(clock.now() - followedAt) >= FOLLOW_EVERY_MS) {
        followedAt = clock.now();
        const changed = await lookSchedule(look.db, chain.id).changed();
        await changeInParts(look, { name: 'record', rows: changed }, (part, { handle, now }) =>
          lookSchedule(handle, chain.id).follow(part, now),
        );
      }
      const last = await lastWhole(look, hasReadAll);
      if (last === undefined) return { changes, isMoved: false };
      // A balance means something only together with all sweeps before it.
      const swept = upTo < last.number ? await headerOf(look, upTo) : last;
      // Nodes without balances still show tokens.
      const found =
        swept === undefined ? 0 : await lookAtOpen(look, swept).catch(error => warnOfState(look, error));
      return { changes: changes + found + (await lookAtEnded(look, { last, swept })), isMoved: false };
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

async function headerOf({ view }: Look, number: number): Promise<Header | undefined> {
  return number < 0 ? undefined : (await view.headers([number])).get(number);
}
