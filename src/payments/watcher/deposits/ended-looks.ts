import type { Clock } from '#lib/clock.ts';
import { type DueDeposit, isLeftToLooks, lookSchedule } from '../../deposits/look-schedule.ts';
import { NATIVE_COIN, type PaymentChain } from '../../model/payment-chain.ts';
import type { Look } from '../look/look.ts';
import { recordAll } from '../look/record.ts';
import type { Header } from '../node/node-view.ts';
import { scan } from '../node/scan.ts';
import { watchedAddressesOf } from '../node/token-transfers.ts';
import type { balanceWatch } from './balance-watch.ts';
import { BLOCKS_AGAIN } from './sweep-reader.ts';

/** Blocks up to which a look can say what came. */
export interface LookEnds {
  /** The last block that has its confirmations, and whose transfers are recorded. */
  readonly last: Header;
  /** The same for balances: the last block up to which sweeps are recorded as well. Undefined when none is known. */
  readonly swept: Header | undefined;
}

/** Result of a look at addresses of ended sessions. */
interface EndedLook {
  readonly changes: number;
  /** Addresses that are not watched in each block any more. */
  readonly left: readonly DueDeposit[];
}

interface EndedLooksDeps {
  readonly chain: PaymentChain;
  readonly clock: Clock;
  readonly balances: Pick<ReturnType<typeof balanceWatch>, 'look'>;
  /** Warns of balances that no node has. @throws any other error */
  readonly warnOfState: (look: Look, error: unknown) => 0;
}

/** Addresses of one look, and blocks of their logs. */
const ENDED_AT_A_TIME = 500;
const BLOCKS_PER_REQUEST = 2_000;
const REQUESTS_PER_RUN = 20;

/** Looks at addresses of ended sessions that are due, and at those that the merchant wants to see now. */
export function endedLooks({ chain, clock, balances, warnOfState }: EndedLooksDeps) {
  return { look: lookAtDue };

  async function lookAtDue(look: Look, { last, swept }: LookEnds): Promise<EndedLook> {
    const now = clock.now();
    const due = await lookSchedule(look.db, chain.id).due(now, ENDED_AT_A_TIME);
    if (due.length === 0) return { changes: 0, left: [] };
    const read = await readLogs(look, due, last);
    if (!read.isWhole) return { changes: Math.max(read.changes, 1), left: [] };
    const ofCoins = due.filter(one => one.tokenAddress === NATIVE_COIN);
    // A later look finds all that has come.
    const found =
      swept === undefined
        ? 0
        : await balances.look(look, ofCoins, swept).catch(error => warnOfState(look, error));
    const left = due.filter(one => isLeftToLooks(one, now));
    await look.effect('record', async ({ handle }) => {
      const schedule = lookSchedule(handle, chain.id);
      const addresses = left.map(one => one.address);
      await schedule.readUpTo(last.number, addresses);
      await schedule.leave(addresses);
      await schedule.lookAgain(due, now);
    });
    const hasMore = due.length === ENDED_AT_A_TIME;
    return { changes: read.changes + found + (hasMore ? 1 : 0), left };
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
}
