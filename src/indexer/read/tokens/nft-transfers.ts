import type { Address, Hash } from 'viem';
import { bytesColumn, hexOf, uintColumn } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { placeholders } from '#db/rows.ts';
import { type FulfilledOrder, fulfilledOrder, ORDER_FULFILLED_TOPIC } from '#evm/seaport.ts';
import { positionOf } from '../../schema/block-position.ts';
import { select } from '../../schema/select.ts';
import { tokenTypeColumn } from '../../schema/transaction-types.ts';
import { partyNumber, type TokenTransferRow, transfersAt } from './token-transfers.ts';

interface NftTransferQuery {
  token: Address;
  /** Only transfers of this id. */
  tokenId?: bigint;
  limit: number;
  /** Number of transfers to skip, from the newest. */
  offset: number;
}

/** Transfer of one token id. */
export interface NftTransferRow extends TokenTransferRow {
  tokenId: bigint;
}

const FUNGIBLE = tokenTypeColumn('ERC-20');

/** Transfers of a contract's ids, newest first. Each entry of a batch is one row. */
export async function nftTransfers(
  handle: Handle,
  { token, tokenId, limit, offset }: NftTransferQuery,
): Promise<NftTransferRow[]> {
  const number = await partyNumber(handle, token);
  if (number === null) return [];
  const { sql, bindings, order } = handle.dialect.keyRange({
    ...(tokenId === undefined
      ? { columns: ['token_number'], values: [number] }
      : { columns: ['token_number', 'token_id'], values: [number, uintColumn(tokenId)] }),
    keys: ['id'],
    order: 'desc',
  });
  // By their types: with `token_id is not null`, PostgreSQL sorts all rows of the token in the index over ids.
  const only = tokenId === undefined ? `and token_type <> ${FUNGIBLE}` : '';
  const keys = await select({ from: 'token_transfers', columns: ['id'] }).rows(
    handle,
    `where ${sql} ${only} order by ${order} limit ? offset ?`,
    [...bindings, limit, offset],
  );
  const rows = await transfersAt(
    handle,
    keys.map(({ id }) => id),
  );
  return rows.flatMap(({ tokenId: id, ...row }) => (id === null ? [] : [{ ...row, tokenId: id }]));
}

/** Seaport orders fulfilled by the transactions, in log order. */
export async function fulfilledOrders(
  handle: Handle,
  transactions: readonly Hash[],
): Promise<FulfilledOrder[]> {
  if (transactions.length === 0) return [];
  const rows = await LOG.rows(
    handle,
    `where t.hash in (${placeholders(transactions.length)}) and l.topic0 = ?`,
    [...transactions.map(bytesColumn), bytesColumn(ORDER_FULFILLED_TOPIC)],
  );
  return rows
    .sort((a, b) => a.id - b.id)
    .flatMap(row => {
      const order = fulfilledOrder({
        address: hexOf(row.address),
        transactionHash: hexOf(row.hash),
        logIndex: positionOf(row.id).index,
        topics: [row.topic0, row.topic1, row.topic2].filter(topic => topic !== null).map(hexOf),
        data: hexOf(row.data),
      });
      return order === null ? [] : [order];
    });
}

/** The index by topic is avoided, because the topic may have rows in every block. */
const LOG = select({
  from: 'transactions t',
  join: ['logs l on l.transaction_id = t.id'],
  indexedBy: { l: 'logs_by_transaction' },
  columns: ['l.id', 'l.address', 'l.topic0', 'l.topic1', 'l.topic2', 'l.data', 't.hash'],
});
