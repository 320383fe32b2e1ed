import { booleanColumn, bytesColumn, bytesOrNullColumn, type Column, uintColumn } from '../../db/columns.ts';
import type { RpcReceipt, RpcTransaction } from '../../evm/rpc-block.ts';
import { optionalBigInt } from '../../evm/rpc-block.ts';
import type { FetchedBlock, JudgedBlock } from '../fetch/fetched-block.ts';
import { positionKey } from '../schema/block-position.ts';
import { factsOf, type TransactionType } from '../schema/transaction-types.ts';
import { jsonOrNull, optionalNumber, optionalUint, timestampMs } from './quantities.ts';
import type { TokenTransfer } from './token-transfers.ts';

/** One transaction of the block as a row of `transactions`. `transfers` by position in the block. */
export function transactionRow(
  { fetched, transfers }: { fetched: JudgedBlock; transfers: ReadonlyMap<number, readonly TokenTransfer[]> },
  position: number,
): Column[] {
  const entry = fetched.transactions[position];
  if (entry === undefined) throw new RangeError(`Block ${fetched.number} has no transaction ${position}.`);
  const { transaction, receipt } = entry;
  const trace = fetched.traces?.[position] ?? null;
  const isFailed = receipt.status === '0x0';
  const moved = transfers.get(position) ?? [];
  const tokens = new Set(moved.map(({ token }) => token));
  const isCall = transaction.to ? fetched.receiversWithCode.has(transaction.to) : false;
  const types = typesOf(entry, { tokens, isCall });
  return [
    positionKey({ blockNumber: fetched.number, index: position }),
    bytesColumn(transaction.hash),
    timestampMs(fetched.block),
    bytesColumn(transaction.from),
    bytesOrNullColumn(transaction.to),
    uintColumn(BigInt(transaction.value)),
    uintColumn(BigInt(transaction.nonce)),
    uintColumn(BigInt(transaction.gas)),
    Number(receipt.gasUsed),
    uintColumn(effectiveGasPrice(transaction, receipt)),
    optionalUint(transaction.maxFeePerGas),
    optionalUint(transaction.maxPriorityFeePerGas),
    optionalUint(transaction.maxFeePerBlobGas),
    optionalNumber(receipt.blobGasUsed),
    receipt.blobGasUsed ? optionalUint(receipt.blobGasPrice) : null,
    jsonOrNull(transaction.blobVersionedHashes),
    jsonOrNull(transaction.authorizationList),
    Number(transaction.type ?? 0),
    optionalNumber(receipt.status),
    uintColumn(feeOf(transaction, receipt) + blobFeeOf(receipt)),
    bytesColumn(transaction.input),
    transaction.to && transaction.input.length >= 10 ? bytesColumn(transaction.input.slice(0, 10)) : null,
    isFailed ? null : bytesOrNullColumn(receipt.contractAddress),
    isFailed ? (trace?.error ?? null) : null,
    isFailed ? bytesOrNullColumn(trace?.output) : null,
    booleanColumn(trace === null ? null : trace.calls.some(({ error }) => error !== null)),
    factsOf(types),
    moved.length,
  ];
}

/**
 * A transaction whose receiver has code calls it, with data or without (Decision 181).
 * A creation that becomes known as a token only later gains `token_creation` then.
 */
function typesOf(
  { transaction, receipt }: { transaction: RpcTransaction; receipt: RpcReceipt },
  { tokens, isCall }: { tokens: ReadonlySet<string>; isCall: boolean },
): TransactionType[] {
  const types: TransactionType[] = [];
  if (isCall) types.push('contract_call');
  if (BigInt(transaction.value) > 0n) types.push('coin_transfer');
  if (!transaction.to) types.push('contract_creation');
  if (receipt.contractAddress && tokens.has(receipt.contractAddress)) types.push('token_creation');
  if (tokens.size > 0) types.push('token_transfer');
  return types;
}

/** Receipts before London name no price; the transaction's own was paid then. */
function effectiveGasPrice(transaction: RpcTransaction, receipt: RpcReceipt): bigint {
  return BigInt(receipt.effectiveGasPrice ?? transaction.gasPrice ?? 0);
}

function feeOf(transaction: RpcTransaction, receipt: RpcReceipt): bigint {
  return BigInt(receipt.gasUsed) * effectiveGasPrice(transaction, receipt);
}

function blobFeeOf({ blobGasUsed, blobGasPrice }: RpcReceipt): bigint {
  return BigInt(blobGasUsed ?? 0) * BigInt(blobGasPrice ?? 0);
}

/**
 * Execution fees of a whole block in wei, without blob fees. `burnt` is null before London. What a system
 * transaction pays nothing for burns nothing, so the sum goes over transactions, not over the block's gas.
 */
export function blockFees({ block, transactions }: FetchedBlock): { total: bigint; burnt: bigint | null } {
  const baseFee = optionalBigInt(block.baseFeePerGas);
  let total = 0n;
  let burnt = 0n;
  for (const { transaction, receipt } of transactions) {
    const price = effectiveGasPrice(transaction, receipt);
    const gasUsed = BigInt(receipt.gasUsed);
    total += gasUsed * price;
    if (baseFee !== null) burnt += gasUsed * (price < baseFee ? price : baseFee);
  }
  return { total, burnt: baseFee === null ? null : burnt };
}
