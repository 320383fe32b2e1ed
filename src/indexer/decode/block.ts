import { type Hash, type Hex, numberToHex } from 'viem';
import { bytesColumn, bytesOrNullColumn, uintColumn } from '#db/columns.ts';
import { ZERO_ADDRESS } from '#evm/address.ts';
import type { RpcReceipt, RpcTransaction } from '#evm/rpc.ts';
import type { BlockWithReceiverCode, FetchedBlock } from '../fetch/fetched-block.ts';
import { KEYS_PER_BLOCK, positionKey } from '../schema/block-position.ts';
import { bloomOrNullColumn } from '../schema/bloom.ts';
import { coinOf, type DirtyMark, dirtyRow } from '../schema/dirty-state.ts';
import type { NewRow } from '../schema/tables.ts';
import type { UnreadParts } from '../schema/unread-blocks.ts';
import { contractRows, internalCalls, internalRow } from './internal-transactions.ts';
import { jsonOrNull, optionalNumber, optionalUint, timestampMs } from './quantities.ts';
import {
  decodedTokenTransfers,
  type MovedToken,
  mostTransfersIn,
  movedTokens,
  type TransferOfBlock,
  tokenTransferRow,
} from './token-transfers.ts';
import { blockFees, transactionRow } from './transaction.ts';
import { decodedWithdrawals, withdrawalRow } from './withdrawals.ts';

/** Tables with the contents of blocks. */
export type ContentTable =
  | 'blocks'
  | 'block_details'
  | 'transactions'
  | 'transaction_details'
  | 'internal_transactions'
  | 'withdrawals'
  | 'contracts';

/** Row of a log without the number of its kind, which the writer adds. */
export type LogOfBlock = Omit<NewRow<'logs'>, 'kind'>;

/** Rows of one block. */
export interface BlockRows {
  number: number;
  hash: Hash;
  rows: { [Name in ContentTable]: NewRow<Name>[] };
  logs: LogOfBlock[];
  transfers: TransferOfBlock[];
  /** Tokens that moved. */
  tokens: MovedToken[];
  /** State that the block may have changed and that its rows do not name. */
  touched: DirtyMark[];
  /** Parts that the node could not give; null when the block is complete. */
  unread: UnreadParts | null;
}

/** Converts a fetched block to rows. Pure. */
export function blockRows(judged: BlockWithReceiverCode): BlockRows {
  const fetched = withinKeys(judged);
  const { number } = fetched;
  const moves = decodedTokenTransfers(fetched);
  const transfers = Map.groupBy(moves, ({ transactionIndex }) => transactionIndex);
  const internals = internalCalls(fetched);
  const paid = decodedWithdrawals(fetched);
  return {
    number,
    hash: fetched.hash,
    rows: {
      blocks: [blockRow(fetched, { internals: internals.length, withdrawals: paid.length })],
      block_details: [blockDetailsRow(fetched)],
      transactions: fetched.transactions.map((_, position) =>
        transactionRow({ fetched, transfers }, position),
      ),
      transaction_details: transactionDetailsRows(fetched),
      internal_transactions: internals.map((call, index) => internalRow(number, call, index)),
      withdrawals: paid.map((withdrawal, index) => withdrawalRow(number, withdrawal, index)),
      contracts: contractRows(fetched),
    },
    logs: logRows(fetched),
    transfers: moves.map(transfer => tokenTransferRow(number, transfer)),
    tokens: movedTokens(number, moves),
    touched: fetched.touched.map(address => dirtyRow(coinOf(address), number)),
    unread: unreadParts(fetched),
  };
}

function unreadParts(fetched: BlockWithReceiverCode): UnreadParts | null {
  const { transactions, traces, receiversUnknown, unreadable } = fetched;
  const receipts = transactions.filter(({ receipt }) => receipt === null).length;
  const missing = (traces ?? []).filter(trace => trace === null).length;
  const codes = transactions.filter(({ transaction: { to } }) => to && receiversUnknown.has(to)).length;
  if (receipts + missing + codes === 0) return null;
  return { receipts, traces: missing, codes, reason: unreadable ?? 'the node gave no code of a receiver' };
}

/** Row of `blocks`. Headers before Constantinople and of some chains lack fields; a missing field is null or zero. */
function blockRow(
  fetched: FetchedBlock,
  counts: { internals: number; withdrawals: number },
): NewRow<'blocks'> {
  const { block, transactions, number, hash, traces } = fetched;
  const fees = blockFees(fetched);
  return {
    number,
    hash: bytesColumn(hash),
    parent_hash: bytesColumn(block.parentHash),
    timestamp: timestampMs(block),
    miner: bytesColumn(block.miner ?? ZERO_ADDRESS),
    gas_limit: uintColumn(BigInt(block.gasLimit)),
    gas_used: Number(block.gasUsed),
    base_fee_per_gas: optionalUint(block.baseFeePerGas),
    difficulty: uintColumn(BigInt(block.difficulty ?? 0)),
    total_difficulty: optionalUint(block.totalDifficulty),
    nonce: bytesOrNullColumn(block.nonce),
    extra_data: bytesColumn(block.extraData),
    state_root: bytesColumn(block.stateRoot),
    size: optionalNumber(block.size),
    uncles: JSON.stringify(block.uncles ?? []),
    transaction_count: transactions.length,
    withdrawals_count:
      block.withdrawals === null || block.withdrawals === undefined ? null : counts.withdrawals,
    internal_transaction_count: traces === null || traces.includes(null) ? null : counts.internals,
    transaction_fees: fees === null ? null : uintColumn(fees.total),
    burnt_fees: fees === null || fees.burnt === null ? null : uintColumn(fees.burnt),
    priority_fees: fees === null ? null : uintColumn(fees.total - (fees.burnt ?? 0n)),
    blob_gas_used: optionalNumber(block.blobGasUsed),
    excess_blob_gas: optionalUint(block.excessBlobGas),
    slot_number: optionalNumber(block.slotNumber),
    block_access_list_hash: bytesOrNullColumn(block.blockAccessListHash),
    proven: Number(fetched.isProven),
  };
}

/** One row per log, keyed by block number and log index. */
function logRows({ number: blockNumber, block, transactions }: FetchedBlock): LogOfBlock[] {
  const timestamp = timestampMs(block);
  return transactions.flatMap(({ receipt }, position) => {
    const transactionId = positionKey({ blockNumber, index: position });
    return (receipt?.logs ?? []).map(({ address, topics, data, logIndex }) => ({
      id: positionKey({ blockNumber, index: Number(logIndex) }),
      transaction_id: transactionId,
      timestamp,
      address: bytesColumn(address),
      topic0: bytesOrNullColumn(topics[0]),
      topic1: bytesOrNullColumn(topics[1]),
      topic2: bytesOrNullColumn(topics[2]),
      topic3: bytesOrNullColumn(topics[3]),
      data: bytesColumn(data),
    }));
  });
}

/** Row of `block_details`. Fields missing from the header are null. */
function blockDetailsRow({ number, block }: FetchedBlock): NewRow<'block_details'> {
  return {
    number,
    sha3_uncles: bytesOrNullColumn(block.sha3Uncles),
    mix_hash: bytesOrNullColumn(block.mixHash),
    transactions_root: bytesOrNullColumn(block.transactionsRoot),
    receipts_root: bytesOrNullColumn(block.receiptsRoot),
    withdrawals_root: bytesOrNullColumn(block.withdrawalsRoot),
    logs_bloom: bloomOrNullColumn(block.logsBloom),
  };
}

/** Rows of `transaction_details`. */
function transactionDetailsRows({
  number: blockNumber,
  transactions,
}: FetchedBlock): NewRow<'transaction_details'>[] {
  return transactions.map(({ transaction, receipt }, index) => ({
    id: positionKey({ blockNumber, index }),
    ...signatureColumns(transaction),
    cumulative_gas_used: optionalNumber(receipt?.cumulativeGasUsed),
    access_list: jsonOrNull(transaction.accessList),
    logs_bloom: bloomOrNullColumn(receipt?.logsBloom),
  }));
}

/**
 * Signature columns. `v` of a typed transaction is only the parity, which some nodes return as `yParity`.
 * A rollup's system transaction has no signature; its parts are zero, as rollup nodes write them.
 */
function signatureColumns({
  r,
  s,
  v,
  yParity,
}: RpcTransaction): Pick<NewRow<'transaction_details'>, 'r' | 's' | 'v'> {
  const word = (quantity: Hex | null | undefined) =>
    bytesColumn(numberToHex(BigInt(quantity ?? 0), { size: 32 }));
  return { r: word(r), s: word(s), v: uintColumn(BigInt(v ?? yParity ?? 0)) };
}

/** Reason in the list of missing parts. */
const TOO_MANY = 'the block has more calls, logs or transfers than the index can number';

/**
 * A block whose rows fit the keys of the index. The longest traces, or the receipts with the most transfers, are taken
 * out of a block that has more calls, logs or transfers than a key can number. Chains with very large blocks have them.
 */
function withinKeys(fetched: BlockWithReceiverCode): BlockWithReceiverCode {
  const { transactions, traces } = fetched;
  const calls = shortened((traces ?? []).map(trace => trace?.calls.length ?? 0));
  const moves = shortened(transactions.map(({ receipt }) => keyCountOf(receipt)));
  if (calls.size === 0 && moves.size === 0) return fetched;
  return {
    ...fetched,
    transactions: transactions.map((one, at) => (moves.has(at) ? { ...one, receipt: null } : one)),
    traces: traces?.map((trace, at) => (calls.has(at) ? null : trace)) ?? null,
    unreadable: TOO_MANY,
    isProven: fetched.isProven && moves.size === 0,
  };
}

/** Number of keys that a receipt takes: its logs or transfers, or all when a log is numbered beyond the last key. */
function keyCountOf(receipt: RpcReceipt | null): number {
  if (receipt === null) return 0;
  if (receipt.logs.some(({ logIndex }) => Number(logIndex) >= KEYS_PER_BLOCK)) return KEYS_PER_BLOCK + 1;
  return receipt.logs.reduce((sum, log) => sum + mostTransfersIn(log), 0);
}

/** Positions of the largest entries without which the sum is small enough. Empty in almost every block. */
function shortened(sizes: readonly number[]): ReadonlySet<number> {
  let sum = sizes.reduce((total, size) => total + size, 0);
  const left = new Set<number>();
  if (sum <= KEYS_PER_BLOCK) return left;
  for (const { size, at } of sizes.map((size, at) => ({ size, at })).toSorted((a, b) => b.size - a.size)) {
    if (sum <= KEYS_PER_BLOCK) break;
    left.add(at);
    sum -= size;
  }
  return left;
}
