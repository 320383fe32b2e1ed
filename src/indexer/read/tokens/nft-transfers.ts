import type { Address, Hash } from 'viem';
import { bytesColumn, hexOf, uintColumn } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { placeholders } from '#db/rows.ts';
import { type FulfilledOrder, fulfilledOrder, ORDER_FULFILLED_TOPIC } from '#evm/seaport.ts';
import { positionOf } from '../../schema/block-position.ts';
import { type TokenTransferRow, transfersAt } from './token-transfers.ts';

interface NftTransferQuery {
  token: Address;
  /** Of this id only. */
  tokenId?: bigint;
  limit: number;
  /** Transfers to leave out, counted from the newest. */
  offset: number;
}

/** One id of a token that changed hands. */
export interface NftTransferRow extends TokenTransferRow {
  tokenId: bigint;
}

/** Transfers of a contract's ids, newest first; the entries of a batch each by itself. */
export async function nftTransfers(
  handle: Handle,
  { token, tokenId, limit, offset }: NftTransferQuery,
): Promise<NftTransferRow[]> {
  const ofId = tokenId === undefined ? 'token_id is not null' : 'token_id = ?';
  const keys = await handle.raw<{ id: number }[]>(
    `select id from token_transfers where token = ? and ${ofId} order by id desc limit ? offset ?`,
    [bytesColumn(token), ...(tokenId === undefined ? [] : [uintColumn(tokenId)]), limit, offset],
  );
  const rows = await transfersAt(
    handle,
    keys.map(({ id }) => id),
  );
  return rows.flatMap(({ tokenId: id, ...row }) => (id === null ? [] : [{ ...row, tokenId: id }]));
}

/** The Seaport orders that the transactions fulfilled, in the order of their logs. */
export async function fulfilledOrders(
  handle: Handle,
  transactions: readonly Hash[],
): Promise<FulfilledOrder[]> {
  if (transactions.length === 0) return [];
  // The unary plus keeps SQLite from the index over topics, which would walk every sale of the chain.
  const rows = await handle.raw<LogColumns[]>(
    `select l.id, l.address, l.topic0, l.topic1, l.topic2, l.data, t.hash
     from transactions t cross join logs l on l.transaction_id = t.id
     where t.hash in (${placeholders(transactions.length)}) and +l.topic0 = ?`,
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

interface LogColumns {
  id: number;
  hash: Buffer;
  address: Buffer;
  topic0: Buffer | null;
  topic1: Buffer | null;
  topic2: Buffer | null;
  data: Buffer;
}
