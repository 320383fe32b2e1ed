import { type Clock, DAY_MS } from '#lib/clock.ts';
import { type DueDeposit, isLeftToLooks, lookSchedule } from '../../deposits/look-schedule.ts';
import { NATIVE_COIN, type PaymentChain } from '../../model/payment-chain.ts';
import type { Transfer } from '../../model/transfer.ts';
import type { Look } from '../look/look.ts';
import { recordAll } from '../look/record.ts';
import { wholeBlock } from '../node/block-pieces.ts';
import { type Header, slices } from '../node/node-view.ts';
import { type Scan, scan } from '../node/scan.ts';
import { type WatchedAddresses, watchedAddressesOf } from '../node/token-transfers.ts';
import { type BlockRange, setAsideReasonOf } from '../node/transfer-logs.ts';
import type { balanceWatch } from './balance-watch.ts';
import type { rareWarnings } from './rare-warnings.ts';
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

/** Result of reading transfers. `refused` are addresses whose transfers no node shows now. */
interface LogsRead {
  readonly isWhole: boolean;
  readonly changes: number;
  readonly refused: ReadonlySet<string>;
}

/** The same of a range, which was read up to a block. */
interface RangeRead extends Omit<LogsRead, 'isWhole'> {
  readonly upTo: number;
}

interface EndedLooksDeps {
  readonly chain: PaymentChain;
  readonly clock: Clock;
  readonly balances: Pick<ReturnType<typeof balanceWatch>, 'look'>;
  readonly warn: ReturnType<typeof rareWarnings>;
  /** Warns of balances that no node has. @throws any other error */
  readonly warnOfState: (look: Look, error: unknown) => 0;
}

/** Addresses of one look, and blocks of their logs. */
const ENDED_AT_A_TIME = 500;
const BLOCKS_PER_REQUEST = 2_000;
const REQUESTS_PER_RUN = 20;
/** Blocks of one request that are read by their receipts, and addresses that are asked for alone at a time. */
const REFUSED_BLOCKS_PER_REQUEST = 5;
const ALONE_AT_A_TIME = 50;
/** Time until the next look at an address whose transfers no node shows. */
const POSTPONED_MS = DAY_MS;

/** Looks at addresses of ended sessions that are due, and at those that the merchant wants to see now. */
export function endedLooks({ chain, clock, balances, warn, warnOfState }: EndedLooksDeps) {
  let blocks = BLOCKS_PER_REQUEST;

  return { look: lookAtDue };

  async function lookAtDue(look: Look, { last, swept }: LookEnds): Promise<EndedLook> {
    const now = clock.now();
    const all = await lookSchedule(look.db, chain.id).due(now, ENDED_AT_A_TIME);
    if (all.length === 0) return { changes: 0, left: [] };
    const read = await readLogs(look, all, last);
    if (!read.isWhole) return { changes: Math.max(read.changes, 1), left: [] };
    const due = all.filter(({ address }) => !read.refused.has(address));
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
    const hasMore = all.length === ENDED_AT_A_TIME;
    return { changes: read.changes + found + (hasMore ? 1 : 0), left };
  }

  /** Reads the transfers to addresses that are not watched in each block, from the block at which they were read last. */
  async function readLogs(look: Look, due: readonly DueDeposit[], end: Header): Promise<LogsRead> {
    const behind = due.filter(one => one.lookedBlock !== null && one.lookedBlock < end.number);
    const refused = new Set<string>();
    const oldest = Math.min(end.number, ...behind.map(one => one.lookedBlock ?? end.number));
    let last = Math.max(-1, oldest - BLOCKS_AGAIN);
    let changes = 0;
    for (let count = 0; last < end.number; count++) {
      const read = behind.filter(({ address }) => !refused.has(address));
      if (read.length === 0) break;
      if (count === REQUESTS_PER_RUN) return { isWhole: false, changes, refused };
      const range = { from: last + 1, to: Math.min(end.number, last + blocks) };
      const part = await readRange(look, read, range).catch(error => {
        // A smaller range may need less than a look may read.
        blocks = Math.max(1, Math.floor(blocks / 4));
        throw error;
      });
      blocks = Math.min(BLOCKS_PER_REQUEST, 2 * blocks);
      changes += part.changes;
      if (part.upTo <= last) return { isWhole: false, changes, refused };
      last = part.upTo;
      for (const address of part.refused) refused.add(address);
      const whole = read.filter(({ address }) => !part.refused.has(address)).map(({ address }) => address);
      await look.effect('record', async ({ handle, now }) => {
        const schedule = lookSchedule(handle, chain.id);
        await schedule.readUpTo(last, whole);
        await schedule.postpone([...part.refused], now + POSTPONED_MS);
      });
      for (const address of part.refused)
        warn(
          look.log,
          address,
          { chainId: chain.id, address },
          'transfers to a deposit address cannot be read',
        );
    }
    return { isWhole: true, changes, refused };
  }

  /** Reads a range, and one by one the blocks in it whose logs a node refuses. */
  async function readRange(
    look: Look,
    deposits: readonly DueDeposit[],
    range: BlockRange,
  ): Promise<RangeRead> {
    const refused = new Set<string>();
    const nothing = { upTo: range.from - 1, refused };
    const found = await scanFor(look, deposits, range);
    if (found === undefined || found.unsureFrom !== undefined) return { ...nothing, changes: 0 };
    const recorded = await recordFor(look, deposits, found.transfers);
    let { changes } = recorded;
    if (!recorded.isWhole) return { ...nothing, changes };
    const unread = found.unread.toSorted((a, b) => a.number - b.number);
    for (const [index, block] of unread.entries()) {
      const read = deposits.filter(({ address }) => !refused.has(address));
      const part =
        index < REFUSED_BLOCKS_PER_REQUEST && read.length > 0
          ? await readRefused(look, read, block)
          : undefined;
      changes += part?.changes ?? 0;
      if (part === undefined || !part.isWhole) return { upTo: block.number - 1, changes, refused };
      for (const address of part.refused) refused.add(address);
    }
    return { upTo: range.to, changes, refused };
  }

  /** Reads a block by its receipts, and if they are refused too for each address alone. */
  async function readRefused(look: Look, deposits: readonly DueDeposit[], block: Header): Promise<LogsRead> {
    const refused = new Set<string>();
    const pieces = await wholeBlock(block, { ...look, chainId: chain.id, watched: watchedOf(deposits) });
    if (pieces === undefined) return { isWhole: false, changes: 0, refused };
    const transfers = [...pieces.transfers];
    for (const some of pieces.isWhole ? [] : slices(deposits, ALONE_AT_A_TIME)) {
      const found = await Promise.all(some.map(one => scanAlone(look, one, block.number)));
      for (const [at, scanned] of found.entries()) {
        if (scanned === undefined) return { isWhole: false, changes: 0, refused };
        for (const one of scanned.transfers) transfers.push(one);
        if (scanned.unread.length > 0) refused.add(some[at]?.address ?? '');
      }
    }
    return { ...(await recordFor(look, deposits, transfers)), refused };
  }

  function scanFor(
    look: Look,
    deposits: readonly DueDeposit[],
    range: BlockRange,
  ): Promise<Scan | undefined> {
    const watched = watchedOf(deposits);
    const isSettled = () => false;
    return scan(range, { ...look, chainId: chain.id, watched, skipped: new Set(), isSettled });
  }

  /** A block for one address. It is unread when the node refuses it. */
  async function scanAlone(look: Look, deposit: DueDeposit, number: number) {
    try {
      return await scanFor(look, [deposit], { from: number, to: number });
    } catch (error) {
      return { transfers: [], unread: [setAsideReasonOf(error)] };
    }
  }

  async function recordFor(look: Look, deposits: readonly DueDeposit[], transfers: readonly Transfer[]) {
    return recordAll({ ...look, watched: watchedOf(deposits) }, transfers);
  }
}

function watchedOf(deposits: readonly DueDeposit[]): WatchedAddresses {
  return watchedAddressesOf(
    deposits.map(one => ({ tokenAddress: one.tokenAddress, recipientAddress: one.address })),
  );
}
