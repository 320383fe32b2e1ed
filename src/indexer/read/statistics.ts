import { uintOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';
import { blockStart } from '../schema/block-position.ts';
import { type IndexTables, unknownList } from '../schema/columns.ts';
import type { ComputedIndexColumns } from '../schema/computed-columns.ts';

/** Counters of everything indexed, kept by the writer: asking costs the same on any chain. */
export interface Totals {
  blocks: number;
  transactions: number;
  gasUsed: bigint;
  /** Blocks with transactions. */
  filledBlocks: number;
  /** Blocks whose internal transactions the node did not give. */
  untracedBlocks: number;
  /** Addresses that hold coins or code. */
  addresses: number;
  /** The sum of the balances of all of them, in wei. */
  coinSupply: bigint;
  /** Addresses with code. */
  contracts: number;
}

/** What happened on one day in UTC. */
export interface DayRow {
  /** Days since 1970-01-01. */
  day: number;
  transactions: number;
  gasUsed: bigint;
}

/** A block as far as it says how busy the chain is. Time in UTC milliseconds. */
export interface BlockLoad {
  number: number;
  timestamp: number;
  gasUsed: bigint;
  gasLimit: bigint;
}

/** Digits of one part of the supply, as the migration cuts balances. */
const PART = 10n ** 10n;

export async function totals(handle: Handle): Promise<Totals> {
  const [row] = await rowsOf<IndexTables['totals']>(handle, 'select * from totals');
  if (row === undefined) throw new Error('The index has lost its counters.');
  return {
    blocks: row.blocks,
    transactions: row.transactions,
    gasUsed: BigInt(row.gas_used),
    filledBlocks: row.filled_blocks,
    untracedBlocks: row.untraced_blocks,
    addresses: row.addresses,
    contracts: row.contracts,
    coinSupply: unknownList(row.supply_parts).reduce<bigint>(
      (sum, part) => sum * PART + BigInt(String(part)),
      0n,
    ),
  };
}

/** Days from `first` to `last`, both included, as far as they have blocks, in ascending order. */
export async function days(handle: Handle, range: { first: number; last: number }): Promise<DayRow[]> {
  const rows = await rowsOf<
    Pick<IndexTables['days'], 'day' | 'transactions'> & Pick<ComputedIndexColumns, 'gas_total'>
  >(
    handle,
    `select day, transactions, cast(gas_used as text) as gas_total from days
     where day >= ? and day <= ? order by day`,
    [range.first, range.last],
  );
  return rows.map(({ day, transactions, gas_total: gasUsed }) => ({
    day,
    transactions,
    gasUsed: BigInt(gasUsed),
  }));
}

/** The newest blocks, highest first. */
export async function recentLoad(handle: Handle, limit: number): Promise<BlockLoad[]> {
  const rows = await rowsOf<Pick<IndexTables['blocks'], 'number' | 'timestamp' | 'gas_used' | 'gas_limit'>>(
    handle,
    `select number, timestamp, gas_used, gas_limit from blocks where number >= 0
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

/** Prices in wei really paid for a unit of gas since a block, newest first, at most `limit`. */
export async function recentGasPrices(
  handle: Handle,
  { fromBlock, limit }: { fromBlock: number; limit: number },
): Promise<bigint[]> {
  const rows = await rowsOf<Pick<IndexTables['transactions'], 'gas_price'>>(
    handle,
    'select gas_price from transactions where id >= ? order by id desc limit ?',
    [blockStart(fromBlock), limit],
  );
  return rows.map(row => uintOf(row.gas_price));
}

/** Number and fees in wei of a block's transactions. */
export interface BlockFees {
  transactions: number;
  fees: bigint;
}

/** Blocks later than a time in UTC milliseconds, at most `limit`. */
export async function feesSince(
  handle: Handle,
  { time, limit }: { time: number; limit: number },
): Promise<BlockFees[]> {
  const rows = await rowsOf<Pick<IndexTables['blocks'], 'transaction_count' | 'transaction_fees'>>(
    handle,
    'select transaction_count, transaction_fees from blocks where timestamp > ? order by timestamp desc limit ?',
    [time, limit],
  );
  return rows.map(row => ({
    transactions: row.transaction_count,
    fees: uintOf(row.transaction_fees),
  }));
}
