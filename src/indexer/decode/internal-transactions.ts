import type { Address } from 'viem';
import { bytesColumn, bytesOrNullColumn, uintColumn } from '../../db/columns.ts';
import { hasCoinLogs, innerCoinTransfers } from '../../evm/coin-logs.ts';
import type { InnerCall } from '../../evm/traces.ts';
import type { FetchedBlock } from '../fetch/fetched-block.ts';
import { positionKey } from '../schema/block-position.ts';
import type { NewRow } from '../schema/tables.ts';
import { COIN_LOG } from '../schema/transaction-types.ts';
import { errorTextOrNull, optionalNumber } from './quantities.ts';

/** Call made inside a transaction, with its position. */
export interface InternalCall extends InnerCall {
  transactionIndex: number;
  /** Counts from 1 within the transaction. 0 would be the transaction's own call, which is not internal. */
  traceIndex: number;
}

/**
 * Internal calls of the block in order of execution. A missing trace is replaced by what the logs of the chain say about
 * coins, in blocks that have such logs; otherwise its calls are left out.
 */
export function internalCalls(fetched: FetchedBlock): InternalCall[] {
  const { transactions, traces } = fetched;
  return transactions.flatMap((one, transactionIndex) => {
    const calls = traces?.[transactionIndex]?.calls ?? callsInLogs(one, fetched);
    return calls.map((call, position) => ({ ...call, transactionIndex, traceIndex: position + 1 }));
  });
}

function callsInLogs(
  { transaction, receipt }: FetchedBlock['transactions'][number],
  { block }: FetchedBlock,
): InnerCall[] {
  if (receipt === null || !hasCoinLogs(block)) return [];
  const unknown = {
    type: COIN_LOG,
    createdContract: null,
    gasLimit: 0n,
    gasUsed: 0n,
    error: null,
    isUndone: false,
  };
  return innerCoinTransfers(transaction, receipt).map(transfer => ({ ...unknown, ...transfer }));
}

export function internalRow(
  blockNumber: number,
  call: InternalCall,
  index: number,
): NewRow<'internal_transactions'> {
  return {
    id: positionKey({ blockNumber, index }),
    transaction_id: positionKey({ blockNumber, index: call.transactionIndex }),
    trace_index: call.traceIndex,
    type: call.type,
    from_address: bytesColumn(call.from),
    to_address: bytesOrNullColumn(call.to),
    created_contract: bytesOrNullColumn(call.createdContract),
    value: uintColumn(call.value),
    gas_limit: uintColumn(call.gasLimit),
    gas_used: uintColumn(call.gasUsed),
    error: errorTextOrNull(call.error),
  };
}

/**
 * Contracts created in the block. A failed transaction creates none, nor does a failed call, nor a transaction whose
 * outcome is not known.
 */
export function contractRows({
  number: blockNumber,
  transactions,
  traces,
}: FetchedBlock): NewRow<'contracts'>[] {
  return transactions.flatMap(({ transaction, receipt }, position) => {
    const trace = traces?.[position] ?? null;
    if (receipt === null || optionalNumber(receipt.status) === 0) return [];
    const created: { address: Address; creator: Address }[] = [];
    if (receipt.contractAddress)
      created.push({ address: receipt.contractAddress, creator: transaction.from });
    for (const { createdContract, from, isUndone } of trace?.calls ?? []) {
      if (createdContract !== null && !isUndone) created.push({ address: createdContract, creator: from });
    }
    return created.map(({ address, creator }) => ({
      address: bytesColumn(address),
      transaction_id: positionKey({ blockNumber, index: position }),
      creator: bytesColumn(creator),
    }));
  });
}
