import type { Hash, Hex } from 'viem';
import { bytesColumn, bytesOrNullColumn, type RowOf, uintColumn } from '#db/columns.ts';
import { ZERO_ADDRESS } from '#evm/address.ts';
import type { RpcReceipt, RpcTransaction } from '#evm/rpc.ts';
import type { FetchedBlock, JudgedBlock } from '../fetch/fetched-block.ts';
import { PLACES_PER_BLOCK, positionKey } from '../schema/block-position.ts';
import type {
  BLOCK_COLUMNS,
  BLOCK_DETAILS_COLUMNS,
  CONTRACT_COLUMNS,
  DIRTY_MARK_COLUMNS,
  INTERNAL_TRANSACTION_COLUMNS,
  LOG_COLUMNS,
  MOVED_TOKEN_COLUMNS,
  TOKEN_TRANSFER_COLUMNS,
  TRANSACTION_COLUMNS,
  TRANSACTION_DETAILS_COLUMNS,
  WITHDRAWAL_COLUMNS,
} from '../schema/columns.ts';
import type { UnreadParts } from '../schema/unread-blocks.ts';
import { contractRows, internalCalls, internalRow } from './internal-transactions.ts';
import { jsonOrNull, optionalNumber, optionalUint, timestampMs } from './quantities.ts';
import { mostTransfersIn, tokenTransferRow, tokenTransfers } from './token-transfers.ts';
import { type BlockContent, touchedBy } from './touched-state.ts';
import { blockFees, transactionRow } from './transaction.ts';
import { withdrawalRow, withdrawals } from './withdrawals.ts';

/** Rows of one block, ready to insert. */
export interface BlockRows {
  number: number;
  hash: Hash;
  block: RowOf<typeof BLOCK_COLUMNS>;
  blockDetails: RowOf<typeof BLOCK_DETAILS_COLUMNS>;
  transactions: RowOf<typeof TRANSACTION_COLUMNS>[];
  transactionDetails: RowOf<typeof TRANSACTION_DETAILS_COLUMNS>[];
  logs: RowOf<typeof LOG_COLUMNS>[];
  tokenTransfers: RowOf<typeof TOKEN_TRANSFER_COLUMNS>[];
  internalTransactions: RowOf<typeof INTERNAL_TRANSACTION_COLUMNS>[];
  withdrawals: RowOf<typeof WITHDRAWAL_COLUMNS>[];
  contracts: RowOf<typeof CONTRACT_COLUMNS>[];
  /** Tokens that moved. A new token keeps the first type seen. */
  tokens: RowOf<typeof MOVED_TOKEN_COLUMNS>[];
  /** State to read from the chain after this block. */
  dirty: RowOf<typeof DIRTY_MARK_COLUMNS>[];
  /** Parts that the node could not give; null when the block is complete. */
  unread: UnreadParts | null;
}

/** Converts a fetched block to rows. Pure. */
export function blockRows(judged: JudgedBlock): BlockRows {
  const fetched = withinPlaces(judged);
  const { number } = fetched;
  const content: BlockContent = {
    fetched,
    transfers: tokenTransfers(fetched),
    internals: internalCalls(fetched),
    withdrawals: withdrawals(fetched),
  };
  const touched = touchedBy(content);
  const transfers = Map.groupBy(content.transfers, ({ transactionIndex }) => transactionIndex);
  return {
    number,
    hash: fetched.hash,
    block: blockRow(content),
    blockDetails: blockDetailsRow(fetched),
    transactions: fetched.transactions.map((_, position) => transactionRow({ fetched, transfers }, position)),
    transactionDetails: transactionDetailsRows(fetched),
    logs: logRows(fetched),
    tokenTransfers: content.transfers.map((transfer, index) => tokenTransferRow(number, transfer, index)),
    internalTransactions: content.internals.map((call, index) => internalRow(number, call, index)),
    withdrawals: content.withdrawals.map((withdrawal, index) => withdrawalRow(number, withdrawal, index)),
    contracts: contractRows(fetched),
    tokens: touched.tokens,
    dirty: touched.dirty,
    unread: unreadParts(fetched),
  };
}

function unreadParts(fetched: JudgedBlock): UnreadParts | null {
  const { transactions, traces, receiversUnknown, unreadable } = fetched;
  const receipts = transactions.filter(({ receipt }) => receipt === null).length;
  const missing = (traces ?? []).filter(trace => trace === null).length;
  const codes = transactions.filter(({ transaction: { to } }) => to && receiversUnknown.has(to)).length;
  if (receipts + missing + codes === 0) return null;
  return { receipts, traces: missing, codes, reason: unreadable ?? 'the node gave no code of a receiver' };
}

/** Row of `blocks`. Headers before Constantinople and of some chains lack fields; a missing field is null or zero. */
function blockRow({ fetched, internals, withdrawals: paid }: BlockContent): RowOf<typeof BLOCK_COLUMNS> {
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
    withdrawals_count: block.withdrawals === null || block.withdrawals === undefined ? null : paid.length,
    internal_transaction_count: traces === null || traces.includes(null) ? null : internals.length,
    transaction_fees: fees === null ? null : uintColumn(fees.total),
    burnt_fees: fees === null || fees.burnt === null ? null : uintColumn(fees.burnt),
    priority_fees: fees === null ? null : uintColumn(fees.total - (fees.burnt ?? 0n)),
    blob_gas_used: optionalNumber(block.blobGasUsed),
    excess_blob_gas: optionalUint(block.excessBlobGas),
  };
}

/** One row per log, keyed by block number and log index. */
function logRows({ number: blockNumber, block, transactions }: FetchedBlock): RowOf<typeof LOG_COLUMNS>[] {
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
function blockDetailsRow({ number, block }: FetchedBlock): RowOf<typeof BLOCK_DETAILS_COLUMNS> {
  return {
    number,
    sha3_uncles: bytesOrNullColumn(block.sha3Uncles),
    mix_hash: bytesOrNullColumn(block.mixHash),
    transactions_root: bytesOrNullColumn(block.transactionsRoot),
    receipts_root: bytesOrNullColumn(block.receiptsRoot),
    withdrawals_root: bytesOrNullColumn(block.withdrawalsRoot),
    logs_bloom: bloomColumn(block.logsBloom),
  };
}

/** Rows of `transaction_details`. */
function transactionDetailsRows({
  number: blockNumber,
  transactions,
}: FetchedBlock): RowOf<typeof TRANSACTION_DETAILS_COLUMNS>[] {
  return transactions.map(({ transaction, receipt }, index) => ({
    id: positionKey({ blockNumber, index }),
    ...signatureColumns(transaction),
    cumulative_gas_used: optionalNumber(receipt?.cumulativeGasUsed),
    access_list: jsonOrNull(transaction.accessList),
    logs_bloom: bloomColumn(receipt?.logsBloom),
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
}: RpcTransaction): Pick<RowOf<typeof TRANSACTION_DETAILS_COLUMNS>, 'r' | 's' | 'v'> {
  const part = (quantity: Hex | null | undefined) => uintColumn(BigInt(quantity ?? 0));
  return { r: part(r), s: part(s), v: part(v ?? yParity) };
}

const EMPTY_BLOOM = `0x${'00'.repeat(256)}`;

/** Bloom filter as bytes. The common empty filter is stored without bytes. */
function bloomColumn(bloom: Hex | null | undefined): Buffer | null {
  if (bloom === null || bloom === undefined) return null;
  return bytesColumn(bloom === EMPTY_BLOOM ? '0x' : bloom);
}

/** Reason in the list of missing parts. */
const TOO_MANY = 'the block has more calls, logs or transfers than the index can number';

/**
 * A block whose rows fit the keys of the index. The longest traces, or the receipts with the most transfers, are taken
 * out of a block that has more calls, logs or transfers than a key can number. Chains with very large blocks have them.
 */
function withinPlaces(fetched: JudgedBlock): JudgedBlock {
  const { transactions, traces } = fetched;
  const calls = shortened((traces ?? []).map(trace => trace?.calls.length ?? 0));
  const moves = shortened(transactions.map(({ receipt }) => placesOf(receipt)));
  if (calls.size === 0 && moves.size === 0) return fetched;
  return {
    ...fetched,
    transactions: transactions.map((one, at) => (moves.has(at) ? { ...one, receipt: null } : one)),
    traces: traces?.map((trace, at) => (calls.has(at) ? null : trace)) ?? null,
    unreadable: TOO_MANY,
  };
}

/** Number of keys that a receipt takes: its logs or transfers, or all when a log is numbered beyond the last key. */
function placesOf(receipt: RpcReceipt | null): number {
  if (receipt === null) return 0;
  if (receipt.logs.some(({ logIndex }) => Number(logIndex) >= PLACES_PER_BLOCK)) return PLACES_PER_BLOCK + 1;
  return receipt.logs.reduce((sum, log) => sum + mostTransfersIn(log), 0);
}

/** Positions of the largest entries without which the sum is small enough. Empty in almost every block. */
function shortened(sizes: readonly number[]): ReadonlySet<number> {
  let sum = sizes.reduce((total, size) => total + size, 0);
  const left = new Set<number>();
  if (sum <= PLACES_PER_BLOCK) return left;
  for (const { size, at } of sizes.map((size, at) => ({ size, at })).toSorted((a, b) => b.size - a.size)) {
    if (sum <= PLACES_PER_BLOCK) break;
    left.add(at);
    sum -= size;
  }
  return left;
}
