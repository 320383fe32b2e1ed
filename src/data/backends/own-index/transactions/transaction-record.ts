import type { Address } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { Abis } from '#evm/abi/abi.ts';
import type { TransactionRow } from '#indexer/read/blocks/transactions.ts';
import type { TokenTransferRow } from '#indexer/read/tokens/token-transfers.ts';
import { numberOrBigint } from '#lib/json.ts';
import type { PendingTransaction } from '#node/pending-transactions.ts';
import { decodedInput, methodOf } from '../parts/decoded.ts';
import { amount, microsecondTimestamp } from '../parts/format.ts';
import type { Parties } from '../parts/parties.ts';
import { embeddedTokenTransfer } from './token-transfers.ts';

export interface TransactionContext {
  readonly abis: Abis;
  readonly parties: Parties;
  /** Price of the native coin. */
  readonly coinRate: string | null;
  /** Number of blocks on top of the transaction's block. */
  readonly confirmations: number;
  /** The first token transfers of the transaction. */
  readonly transfers: readonly TokenTransferRow[];
}

type Transaction = ExplorerSchemas['Transaction'];

/** Converts a mined transaction to the contract's record. */
export function minedTransaction(
  row: TransactionRow,
  context: TransactionContext,
): Transaction & { confirmations: number } {
  const { abis, parties, coinRate, confirmations, transfers } = context;
  const namesTip = row.maxPriorityFeePerGas !== null;
  return {
    timestamp: microsecondTimestamp(row.timestamp),
    fee: { type: 'actual', value: amount(row.fee) },
    gas_limit: numberOrBigint(row.gasLimit),
    block_number: row.blockNumber,
    status: row.status,
    method: methodOf(abis, row.selector),
    confirmations,
    type: row.type,
    exchange_rate: coinRate,
    to: parties.addressOrNull(row.to),
    from: parties.address(row.from),
    created_contract: parties.addressOrNull(row.createdContract),
    transaction_burnt_fee: amount(row.burntFee),
    max_fee_per_gas: amount(row.maxFeePerGas),
    gas_price: row.gasPrice.toString(),
    // A transaction with a plain gas price has no tip (Decision 24).
    priority_fee: namesTip ? amount(row.priorityFee) : null,
    base_fee_per_gas: amount(row.baseFeePerGas),
    max_priority_fee_per_gas: amount(row.maxPriorityFeePerGas),
    gas_used: amount(row.gasUsed),
    value: row.value.toString(),
    result: resultOf(row),
    revert_reason: revertReason(row, abis),
    hash: row.hash,
    token_transfers:
      row.tokenTransferCount === null
        ? null
        : transfers.map(transfer => embeddedTokenTransfer(transfer, abis, parties)),
    token_transfers_overflow:
      row.tokenTransferCount === null ? null : row.tokenTransferCount > transfers.length,
    transaction_types: row.types,
    position: row.index,
    nonce: numberOrBigint(row.nonce),
    has_error_in_internal_transactions: row.hasInternalError,
    actions: [],
    decoded_input: decodedInput(abis, row),
    raw_input: row.input,
    // Time since the parent block, in milliseconds (Decision 16).
    confirmation_duration: row.parentTimestamp === null ? [] : [0, row.timestamp - row.parentTimestamp],
    transaction_tag: null,
    proven: row.isProven,
  };
}

/** Without a receipt the outcome is unknown, as in a block that a Blockscout has not finished (Decision 68). */
function resultOf({ status, error, gasUsed }: TransactionRow): string {
  if (gasUsed === null) return 'awaiting_internal_transactions';
  return error ?? (status === 'error' ? 'failed' : 'success');
}

/** Decoded revert reason, else the returned bytes (Decision 18). */
function revertReason({ revertOutput, to }: TransactionRow, abis: Abis): string | null {
  if (revertOutput === null || revertOutput === '0x') return null;
  return abis.decodeRevert({ to, output: revertOutput }) ?? revertOutput;
}

export interface PendingContext {
  readonly abis: Abis;
  readonly parties: Parties;
  /** Price of the native coin. */
  readonly coinRate: string | null;
  /** Receivers that currently have code. */
  readonly withCode: ReadonlySet<Address>;
}

/** Converts a pending transaction. Fields that its block will decide are null. */
export function pendingTransactionRecord(
  row: PendingTransaction,
  { abis, parties, coinRate, withCode }: PendingContext,
): Transaction {
  const highestPrice = row.maxFeePerGas ?? row.gasPrice;
  return {
    timestamp: null,
    fee: { type: 'maximum', value: amount(highestPrice === null ? null : highestPrice * row.gasLimit) },
    gas_limit: numberOrBigint(row.gasLimit),
    block_number: null,
    status: null,
    method: methodOf(abis, row.selector),
    confirmations: 0,
    type: row.type,
    exchange_rate: coinRate,
    to: parties.addressOrNull(row.to),
    from: parties.address(row.from),
    created_contract: null,
    transaction_burnt_fee: null,
    max_fee_per_gas: amount(row.maxFeePerGas),
    gas_price: amount(row.gasPrice),
    priority_fee: null,
    base_fee_per_gas: null,
    max_priority_fee_per_gas: amount(row.maxPriorityFeePerGas),
    gas_used: null,
    value: row.value.toString(),
    result: 'pending',
    revert_reason: null,
    hash: row.hash,
    token_transfers: [],
    token_transfers_overflow: false,
    transaction_types: pendingTypes(row, withCode),
    position: null,
    nonce: numberOrBigint(row.nonce),
    has_error_in_internal_transactions: null,
    actions: [],
    decoded_input: decodedInput(abis, row),
    raw_input: row.input,
    confirmation_duration: [],
    transaction_tag: null,
    proven: null,
  };
}

/** Types of a pending transaction. Types that depend on moved tokens are unknown. */
export function pendingTypes(
  row: PendingTransaction,
  withCode: ReadonlySet<Address>,
): Transaction['transaction_types'] {
  const types: Transaction['transaction_types'] = [];
  if (row.to === null) types.push('contract_creation');
  else if (withCode.has(row.to)) types.push('contract_call');
  if (row.value > 0n) types.push('coin_transfer');
  return types;
}
