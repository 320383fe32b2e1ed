import type { Address, Hash, Hex } from 'viem';
import { bytesColumn, hexOf, nullableHex, nullableUint, uintOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { BOUND } from '#db/query.ts';
import type { RowIn } from '#db/select/select.ts';
import { hasCoinLogs } from '#evm/coin-logs.ts';
import { hashList } from '../../schema/json-lists.ts';
import { select } from '../../schema/select.ts';
import type { Page } from '../page.ts';

/** A block. Amounts are wei, times UTC milliseconds. `isCanonical` is false for an orphaned block. */
export interface BlockRow {
  number: number;
  hash: Hash;
  isCanonical: boolean;
  parentHash: Hash;
  timestamp: number;
  /** Null when the parent is not indexed. */
  parentTimestamp: number | null;
  miner: Address;
  gasLimit: bigint;
  gasUsed: bigint;
  baseFeePerGas: bigint | null;
  difficulty: bigint;
  totalDifficulty: bigint | null;
  nonce: Hex | null;
  extraData: Hex;
  stateRoot: Hash;
  size: number | null;
  unclesHashes: Hash[];
  transactionCount: number;
  /** Null on chains without withdrawals. */
  withdrawalsCount: number | null;
  /** Null when untraced. */
  internalTransactionCount: number | null;
  /** This and the next two are null when a receipt is missing. */
  transactionFees: bigint | null;
  /** Also null before London. */
  burntFees: bigint | null;
  priorityFees: bigint | null;
  blobGasUsed: number | null;
  excessBlobGas: bigint | null;
  /** Null before Amsterdam, like the next one. */
  slotNumber: number | null;
  blockAccessListHash: Hash | null;
  /** True when each transfer of coins in it has a log. */
  hasCoinLogs: boolean;
  /** True when it was recomputed up to its hash. */
  isProven: boolean;
}

export interface BlockQuery {
  /** `reorg` are blocks that were canonical once, `uncle` blocks that never were. */
  kind: 'block' | 'reorg' | 'uncle';
  /** Last block of the previous page. The hash distinguishes stale blocks of one height. */
  before?: { number: number; hash?: Hash } | undefined;
  limit: number;
}

const PARENT_TIMESTAMP = `coalesce(
  (select timestamp from blocks p where p.hash = b.parent_hash),
  (select timestamp from stale_blocks s where s.hash = b.parent_hash))`;
const CANONICAL = select({
  from: 'blocks b',
  columns: ['b.*'],
  computed: { is_canonical: ['count', '1'], parent_timestamp: ['time?', PARENT_TIMESTAMP] },
});
const STALE = select({
  from: 'stale_blocks b',
  columns: ['b.*'],
  computed: { is_canonical: ['count', '0'], parent_timestamp: ['time?', PARENT_TIMESTAMP] },
});

/** Blocks of one kind, highest first. */
export async function blocks(handle: Handle, { kind, before, limit }: BlockQuery): Promise<Page<BlockRow>> {
  const number = before?.number ?? Number.MAX_SAFE_INTEGER;
  const rows =
    kind === 'block'
      ? await CANONICAL.rows(handle, `where b.number < ? order by b.number desc limit ${BOUND}`, [
          number,
          limit + 1,
        ])
      : await STALE.rows(
          handle,
          `where b.kind = ? and (b.number, b.hash) < (?, ?)
           order by b.number desc, b.hash desc limit ${BOUND}`,
          [kind, number, before?.hash === undefined ? Buffer.alloc(0) : bytesColumn(before.hash), limit + 1],
        );
  return { items: rows.slice(0, limit).map(blockOf), hasMore: rows.length > limit };
}

/** Canonical blocks that an address produced, highest first. */
export async function validatedBlocks(
  handle: Handle,
  { miner, beforeNumber, limit }: { miner: Address; beforeNumber?: number | undefined; limit: number },
): Promise<Page<BlockRow>> {
  const range = handle.dialect.keyRange({
    columns: ['b.miner'],
    values: [bytesColumn(miner)],
    keys: ['b.number'],
    below: [beforeNumber ?? Number.MAX_SAFE_INTEGER],
    order: 'desc',
  });
  const rows = await CANONICAL.rows(handle, `where ${range.sql} order by ${range.order} limit ${BOUND}`, [
    ...range.bindings,
    limit + 1,
  ]);
  return { items: rows.slice(0, limit).map(blockOf), hasMore: rows.length > limit };
}

/** A block, or null when it is unknown. A number finds only canonical blocks, a hash also orphaned ones. */
export async function blockByNumberOrHash(handle: Handle, id: number | Hash): Promise<BlockRow | null> {
  if (typeof id === 'number') {
    const [row] = await CANONICAL.rows(handle, 'where b.number = ?', [id]);
    return row === undefined ? null : blockOf(row);
  }
  const hash = bytesColumn(id);
  const [row] = await CANONICAL.rows(handle, 'where b.hash = ?', [hash]);
  if (row !== undefined) return blockOf(row);
  const [stale] = await STALE.rows(handle, 'where b.hash = ?', [hash]);
  return stale === undefined ? null : blockOf(stale);
}

function blockOf(row: RowIn<typeof CANONICAL>): BlockRow {
  const fork = {
    slotNumber: row.slot_number,
    blockAccessListHash: nullableHex(row.block_access_list_hash),
  };
  return {
    number: row.number,
    hash: hexOf(row.hash),
    isCanonical: row.is_canonical === 1,
    parentHash: hexOf(row.parent_hash),
    timestamp: row.timestamp,
    parentTimestamp: row.parent_timestamp,
    miner: hexOf(row.miner),
    gasLimit: uintOf(row.gas_limit),
    gasUsed: BigInt(row.gas_used),
    baseFeePerGas: nullableUint(row.base_fee_per_gas),
    difficulty: uintOf(row.difficulty),
    totalDifficulty: nullableUint(row.total_difficulty),
    nonce: nullableHex(row.nonce),
    extraData: hexOf(row.extra_data),
    stateRoot: hexOf(row.state_root),
    size: row.size,
    unclesHashes: hashList(row.uncles),
    transactionCount: row.transaction_count,
    withdrawalsCount: row.withdrawals_count,
    internalTransactionCount: row.internal_transaction_count,
    transactionFees: nullableUint(row.transaction_fees),
    burntFees: nullableUint(row.burnt_fees),
    priorityFees: nullableUint(row.priority_fees),
    blobGasUsed: row.blob_gas_used,
    excessBlobGas: nullableUint(row.excess_blob_gas),
    ...fork,
    hasCoinLogs: hasCoinLogs(fork),
    isProven: row.proven === 1,
  };
}
