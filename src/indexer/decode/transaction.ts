import type { Address } from 'viem';
import { booleanColumn, bytesColumn, bytesOrNullColumn, uintColumn } from '../../db/columns.ts';
import { optionalBigInt, type RpcReceipt, type RpcTransaction } from '../../evm/rpc.ts';
import type { BlockWithReceiverCode, FetchedBlock } from '../fetch/fetched-block.ts';
import { PLAIN_TRANSFER_GAS } from '../fetch/receiver-code.ts';
import { positionKey } from '../schema/block-position.ts';
import type { NewRow } from '../schema/tables.ts';
import { factsOf, type TransactionType } from '../schema/transaction-types.ts';
import { errorTextOrNull, jsonOrNull, optionalNumber, optionalUint, timestampMs } from './quantities.ts';
import type { TokenTransfer } from './token-transfers.ts';

/** Row of `transactions` for one transaction. The keys of `transfers` are positions in the block. */
export function transactionRow(
  {
    fetched,
    transfers,
  }: { fetched: BlockWithReceiverCode; transfers: ReadonlyMap<number, readonly TokenTransfer[]> },
  position: number,
): NewRow<'transactions'> {
  const entry = fetched.transactions[position];
  if (entry === undefined) throw new RangeError(`Block ${fetched.number} has no transaction ${position}.`);
  const { transaction, receipt } = entry;
  const trace = fetched.traces?.[position] ?? null;
  const isFailed = optionalNumber(receipt?.status) === 0;
  const moved = transfers.get(position) ?? [];
  const tokens = new Set(moved.map(({ token }) => token));
  const isCall = transaction.to ? isCallTo(transaction.to, { fetched, transaction, receipt }) : false;
  const types = typesOf(entry, { tokens, isCall });
  return {
    id: positionKey({ blockNumber: fetched.number, index: position }),
    hash: bytesColumn(transaction.hash),
    timestamp: timestampMs(fetched.block),
    from_address: bytesColumn(transaction.from),
    to_address: bytesOrNullColumn(transaction.to),
    value: uintColumn(BigInt(transaction.value)),
    nonce: uintColumn(BigInt(transaction.nonce)),
    gas_limit: uintColumn(BigInt(transaction.gas)),
    gas_used: optionalNumber(receipt?.gasUsed),
    gas_price: uintColumn(effectiveGasPrice(transaction, receipt)),
    max_fee_per_gas: optionalUint(transaction.maxFeePerGas),
    max_priority_fee_per_gas: optionalUint(transaction.maxPriorityFeePerGas),
    max_fee_per_blob_gas: optionalUint(transaction.maxFeePerBlobGas),
    blob_gas_used: optionalNumber(receipt?.blobGasUsed),
    blob_gas_price: receipt?.blobGasUsed ? optionalUint(receipt.blobGasPrice) : null,
    blob_hashes: jsonOrNull(transaction.blobVersionedHashes),
    authorization_list: jsonOrNull(transaction.authorizationList),
    type: Number(transaction.type ?? 0),
    status: optionalNumber(receipt?.status),
    fee: receipt === null ? null : uintColumn(feeOf(transaction, receipt) + blobFeeOf(receipt)),
    input: bytesColumn(transaction.input),
    selector:
      transaction.to && transaction.input.length >= 10 ? bytesColumn(transaction.input.slice(0, 10)) : null,
    created_contract: isFailed ? null : bytesOrNullColumn(receipt?.contractAddress),
    error: isFailed ? errorTextOrNull(trace?.error) : null,
    output: isFailed ? bytesOrNullColumn(trace?.output) : null,
    has_internal_error: booleanColumn(
      trace === null ? null : trace.calls.some(({ error }) => error !== null),
    ),
    facts: factsOf(types),
    token_transfer_count: receipt === null ? null : moved.length,
    first_transfer: moved[0]?.index ?? null,
  };
}

/**
 * Types of a transaction. One whose receiver has code is a contract call, with or without data (Decision 181).
 * A creation whose contract later turns out to be a token gains `token_creation` then.
 */
function typesOf(
  { transaction, receipt }: MinedTransaction,
  { tokens, isCall }: { tokens: ReadonlySet<string>; isCall: boolean },
): TransactionType[] {
  const types: TransactionType[] = [];
  if (isCall) types.push('contract_call');
  if (BigInt(transaction.value) > 0n) types.push('coin_transfer');
  if (!transaction.to) types.push('contract_creation');
  if (receipt?.contractAddress && tokens.has(receipt.contractAddress)) types.push('token_creation');
  if (tokens.size > 0) types.push('token_transfer');
  return types;
}

type MinedTransaction = FetchedBlock['transactions'][number];

/**
 * True when the receiver had code. While the node cannot give the code, true for data, and for gas that no plain
 * transfer uses.
 */
function isCallTo(
  receiver: Address,
  { fetched, transaction, receipt }: MinedTransaction & { fetched: BlockWithReceiverCode },
): boolean {
  if (!fetched.receiversUnknown.has(receiver)) return fetched.receiversWithCode.has(receiver);
  const usedMore = receipt !== null && Number(receipt.gasUsed) !== PLAIN_TRANSFER_GAS;
  return transaction.input !== '0x' || usedMore;
}

/**
 * Price per gas that was paid. Without it in the receipt, the price of the transaction: receipts before London have
 * none, and nodes also write the paid price into a mined transaction.
 */
function effectiveGasPrice(transaction: RpcTransaction, receipt: RpcReceipt | null): bigint {
  return BigInt(receipt?.effectiveGasPrice ?? transaction.gasPrice ?? 0);
}

function feeOf(transaction: RpcTransaction, receipt: RpcReceipt): bigint {
  return BigInt(receipt.gasUsed) * effectiveGasPrice(transaction, receipt);
}

function blobFeeOf({ blobGasUsed, blobGasPrice }: RpcReceipt): bigint {
  return BigInt(blobGasUsed ?? 0) * BigInt(blobGasPrice ?? 0);
}

/**
 * Execution fees of a block in wei, without blob fees; null when a receipt is missing. `burnt` is null before London.
 * The sum is per transaction, not over the block's gas: a system transaction pays nothing and burns nothing.
 */
export function blockFees({
  block,
  transactions,
}: FetchedBlock): { total: bigint; burnt: bigint | null } | null {
  const baseFee = optionalBigInt(block.baseFeePerGas);
  let total = 0n;
  let burnt = 0n;
  for (const { transaction, receipt } of transactions) {
    if (receipt === null) return null;
    const price = effectiveGasPrice(transaction, receipt);
    const gasUsed = BigInt(receipt.gasUsed);
    total += gasUsed * price;
    if (baseFee !== null) burnt += gasUsed * (price < baseFee ? price : baseFee);
  }
  return { total, burnt: baseFee === null ? null : burnt };
}
