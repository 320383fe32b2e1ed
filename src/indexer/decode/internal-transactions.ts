import type { Address } from 'viem';
import { bytesColumn, bytesOrNullColumn, type Column, uintColumn } from '../../db/columns.ts';
import type { InnerCall } from '../../evm/inner-calls.ts';
import type { FetchedBlock } from '../fetch/fetched-block.ts';
import { positionKey } from '../schema/block-position.ts';

/** A call made inside a transaction, with its place. */
export interface InternalCall extends InnerCall {
  transactionIndex: number;
  /** Counted from 1 within the transaction: 0 is the transaction's own call, which is no internal one. */
  traceIndex: number;
}

/** The block's internal calls in order of execution; none where the node does not trace. */
export function internalCalls({ traces }: FetchedBlock): InternalCall[] {
  return (traces ?? []).flatMap(({ calls }, transactionIndex) =>
    calls.map((call, position) => ({ ...call, transactionIndex, traceIndex: position + 1 })),
  );
}

export function internalRow(blockNumber: number, call: InternalCall, index: number): Column[] {
  return [
    positionKey({ blockNumber, index }),
    positionKey({ blockNumber, index: call.transactionIndex }),
    call.traceIndex,
    call.type,
    bytesColumn(call.from),
    bytesOrNullColumn(call.to),
    bytesOrNullColumn(call.createdContract),
    uintColumn(call.value),
    uintColumn(call.gasLimit),
    uintColumn(call.gasUsed),
    call.error,
  ];
}

/** Contracts created in the block: address, transaction, creator. A failed transaction creates none. */
export function contractRows({ number: blockNumber, transactions, traces }: FetchedBlock): Column[][] {
  return transactions.flatMap(({ transaction, receipt }, position) => {
    if (receipt.status === '0x0') return [];
    const created: { address: Address; creator: Address }[] = [];
    if (receipt.contractAddress)
      created.push({ address: receipt.contractAddress, creator: transaction.from });
    for (const { createdContract, from } of traces?.[position]?.calls ?? []) {
      if (createdContract !== null) created.push({ address: createdContract, creator: from });
    }
    return created.map(({ address, creator }) => [
      bytesColumn(address),
      positionKey({ blockNumber, index: position }),
      bytesColumn(creator),
    ]);
  });
}
