import { uintOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { readRows, unionAll } from '../../db/select/select.ts';
import { blockStart } from '../schema/block-position.ts';
import { unknownList } from '../schema/json-lists.ts';
import { select } from '../schema/select.ts';

/** Totals of the whole index, maintained by the writer. Reading them costs the same on any chain. */
export interface IndexTotals {
  blocks: number;
  transactions: number;
  gasUsed: bigint;
  /** Blocks with transactions. */
  filledBlocks: number;
  /** Blocks whose internal transactions the node could not trace. */
  untracedBlocks: number;
  /** Addresses that hold coins or code. */
  addresses: number;
  /** Sum of all balances in wei. */
  coinSupply: bigint;
  /** Addresses with code. */
  contracts: number;
}

/** Totals of one day in UTC. */
export interface DayRow {
  /** Days since 1970-01-01. */
  day: number;
  transactions: number;
  gasUsed: bigint;
}

/** Gas usage of a block. `timestamp` is in UTC milliseconds. */
export interface BlockLoad {
  number: number;
  timestamp: number;
  gasUsed: bigint;
  gasLimit: bigint;
}

/** Base of the parts into which the migrations split a sum. */
const PART = 10n ** 10n;

export async function totals(handle: Handle): Promise<IndexTotals> {
  const [row] = await select({ from: 'totals', columns: ['*'] }).rows(handle);
  if (row === undefined) throw new Error('The index has lost its counters.');
  return {
    blocks: row.blocks,
    transactions: row.transactions,
    gasUsed: BigInt(row.gas_used),
    filledBlocks: row.filled_blocks,
    untracedBlocks: row.untraced_blocks,
    addresses: row.addresses,
    contracts: row.contracts,
    coinSupply: wholeOf(row.supply_parts),
  };
}

/** Days from `first` to `last`, both inclusive, that have blocks. Ascending. */
export async function days(handle: Handle, range: { first: number; last: number }): Promise<DayRow[]> {
  const rows = await select({
    from: 'days',
    columns: ['day', 'transactions'],
    computed: { gas_total: ['text', 'cast(gas_used as text)'] },
  }).rows(handle, 'where day >= ? and day <= ? order by day', [range.first, range.last]);
  return rows.map(({ day, transactions, gas_total: gasUsed }) => ({
    day,
    transactions,
    gasUsed: BigInt(gasUsed),
  }));
}

/** The newest blocks, highest first. */
export async function recentLoad(handle: Handle, limit: number): Promise<BlockLoad[]> {
  const rows = await select({
    from: 'blocks',
    columns: ['number', 'timestamp', 'gas_used', 'gas_limit'],
  }).rows(
    handle,
    `where number >= 0
     order by number desc limit ?`,
    [limit],
  );
  return rows.map(row => ({
    number: row.number,
    timestamp: row.timestamp,
    gasUsed: BigInt(row.gas_used),
    gasLimit: uintOf(row.gas_limit),
  }));
}

/** Gas prices in wei actually paid since a block, newest first, at most `limit`. */
export async function recentGasPrices(
  handle: Handle,
  { fromBlock, limit }: { fromBlock: number; limit: number },
): Promise<bigint[]> {
  const rows = await select({ from: 'transactions', columns: ['gas_price'] }).rows(
    handle,
    'where id >= ? order by id desc limit ?',
    [blockStart(fromBlock), limit],
  );
  return rows.map(row => uintOf(row.gas_price));
}

/** Number of transactions, and their known fees in wei. */
export interface FeeSum {
  transactions: number;
  fees: bigint;
}

/**
 * Sums of all blocks up to the head, and of those at least `ageMs` older than it. Null when there are no such blocks.
 * `areKnown` is false when the fees of a block between the two are not known.
 */
export async function feesBefore(
  handle: Handle,
  ageMs: number,
): Promise<{ head: FeeSum | null; older: FeeSum | null; areKnown: boolean }> {
  const rows = await readRows(
    handle,
    unionAll([
      sumsOf('1').query(handle, `where number = (${NEWEST('number')})`),
      sumsOf('0').query(
        handle,
        `where number = (
           select number from blocks where timestamp <= (${NEWEST('timestamp')}) - ?
           order by timestamp desc, number desc limit 1)`,
        [ageMs],
      ),
    ]),
  );
  const sumOf = (isHead: 0 | 1) => {
    const row = rows.find(({ is_head: found }) => found === isHead);
    return row === undefined ? null : { transactions: row.transactions, fees: wholeOf(row.fee_parts) };
  };
  const older = rows.find(({ is_head: found }) => found === 0)?.number ?? -1;
  const unknown = await select({ from: 'unread_blocks', columns: ['number'] }).rows(
    handle,
    'where receipts > 0 and number > ? limit 1',
    [older],
  );
  return { head: sumOf(1), older: sumOf(0), areKnown: unknown.length === 0 };
}

const sumsOf = (isHead: '0' | '1') =>
  select({ from: 'block_sums', columns: ['*'], computed: { is_head: ['count', isHead] } });

const NEWEST = (column: 'number' | 'timestamp') =>
  `select ${column} from blocks where number >= 0 order by number desc limit 1`;

/** Integer from its list of parts, highest first. */
function wholeOf(parts: string): bigint {
  return unknownList(parts).reduce<bigint>((sum, part) => sum * PART + BigInt(String(part)), 0n);
}
