import type { Hex } from 'viem';
import { bytesColumn, bytesOrNullColumn, type Column, uintColumn } from '../../db/columns.ts';
import type { RpcReceipt, RpcTransaction } from '../../evm/rpc-block.ts';
import type { FetchedBlock } from '../fetch/fetched-block.ts';
import { positionKey } from '../schema/block-position.ts';
import { jsonOrNull, optionalNumber } from './quantities.ts';

/** Row of `block_details`. What a chain's headers lack is null. */
export function blockDetailsRow({ number, block }: FetchedBlock): Column[] {
  return [
    number,
    bytesOrNullColumn(block.sha3Uncles),
    bytesOrNullColumn(block.mixHash),
    bytesOrNullColumn(block.transactionsRoot),
    bytesOrNullColumn(block.receiptsRoot),
    bytesOrNullColumn(block.withdrawalsRoot),
    bloomColumn(block.logsBloom),
  ];
}

/** Rows of `transaction_details`. */
export function transactionDetailsRows({ number: blockNumber, transactions }: FetchedBlock): Column[][] {
  return transactions.map(({ transaction, receipt }, index) => [
    positionKey({ blockNumber, index }),
    ...signatureColumns(transaction),
    ...receiptColumns(transaction, receipt),
  ]);
}

/**
 * `v` of a typed transaction is the parity alone, which some nodes give by its own name. A system transaction of a
 * rollup has no signature: its parts are zero, as rollups' own nodes write them.
 */
function signatureColumns({ r, s, v, yParity }: RpcTransaction): Column[] {
  return [r, s, v ?? yParity].map(part => uintColumn(BigInt(part ?? 0)));
}

function receiptColumns(transaction: RpcTransaction, receipt: RpcReceipt): Column[] {
  return [
    optionalNumber(receipt.cumulativeGasUsed),
    jsonOrNull(transaction.accessList),
    bloomColumn(receipt.logsBloom),
  ];
}

const EMPTY_BLOOM = `0x${'00'.repeat(256)}`;

/** Most blooms have no bit set, and are no bytes. */
function bloomColumn(bloom: Hex | null | undefined): Buffer | null {
  if (bloom === null || bloom === undefined) return null;
  return bytesColumn(bloom === EMPTY_BLOOM ? '0x' : bloom);
}
