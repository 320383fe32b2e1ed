import type { Address } from 'viem';
import { bytesColumn, uintColumn } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { type TokenTransferRow, transfersAt } from './token-transfers.ts';

export interface NftTransferQuery {
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
