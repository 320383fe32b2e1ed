import type { Hex } from 'viem';
import { bytesColumn, bytesOrNullColumn, uintColumn } from '../../db/columns.ts';
import type { RpcTransaction } from '../../evm/rpc.ts';
import type { FetchedBlock } from '../fetch/fetched-block.ts';
import { positionKey } from '../schema/block-position.ts';
import type { BLOCK_DETAILS_COLUMNS, RowOf, TRANSACTION_DETAILS_COLUMNS } from '../schema/columns.ts';
import { jsonOrNull, optionalNumber } from './quantities.ts';

/** Row of `block_details`. What a chain's headers lack is null. */
export function blockDetailsRow({ number, block }: FetchedBlock): RowOf<typeof BLOCK_DETAILS_COLUMNS> {
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
export function transactionDetailsRows({
  number: blockNumber,
  transactions,
}: FetchedBlock): RowOf<typeof TRANSACTION_DETAILS_COLUMNS>[] {
  return transactions.map(({ transaction, receipt }, index) => ({
    id: positionKey({ blockNumber, index }),
    ...signatureColumns(transaction),
    cumulative_gas_used: optionalNumber(receipt.cumulativeGasUsed),
    access_list: jsonOrNull(transaction.accessList),
    logs_bloom: bloomColumn(receipt.logsBloom),
  }));
}

/**
 * `v` of a typed transaction is the parity alone, which some nodes give by its own name. A system transaction of a
 * rollup has no signature: its parts are zero, as rollups' own nodes write them.
 */
function signatureColumns({ r, s, v, yParity }: RpcTransaction): RowOf<readonly ['r', 's', 'v']> {
  const part = (quantity: Hex | null | undefined) => uintColumn(BigInt(quantity ?? 0));
  return { r: part(r), s: part(s), v: part(v ?? yParity) };
}

const EMPTY_BLOOM = `0x${'00'.repeat(256)}`;

/** Most blooms have no bit set, and are no bytes. */
function bloomColumn(bloom: Hex | null | undefined): Buffer | null {
  if (bloom === null || bloom === undefined) return null;
  return bytesColumn(bloom === EMPTY_BLOOM ? '0x' : bloom);
}
