import type { Hash } from 'viem';
import { hexOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { execute, rowsOf } from '../../db/query.ts';
import type { IndexTables } from './columns.ts';

/** The highest block in the index. Times are UTC milliseconds. */
export interface Head {
  number: number;
  hash: Hash;
  timestamp: number;
  /** Grows with every reorganisation deeper than the chain's confirmations: what was final was not. */
  epoch: number;
}

type HeadColumns = Pick<IndexTables['blocks'], 'number' | 'hash' | 'timestamp'> &
  Pick<IndexTables['index_state'], 'epoch'>;

/** Null while the index is empty. */
export async function readHead(handle: Handle): Promise<Head | null> {
  const [row] = await rowsOf<HeadColumns>(
    handle,
    `select number, hash, timestamp, (select epoch from index_state where id = 1) as epoch
     from blocks where number >= 0 order by number desc limit 1`,
  );
  return row === undefined ? null : { ...row, hash: hexOf(row.hash) };
}

/** What tells this index from every other, also from an earlier one of the same chain. */
export async function readIdentity(handle: Handle): Promise<string> {
  const [row] = await rowsOf<Pick<IndexTables['index_state'], 'identity'>>(
    handle,
    'select identity from index_state where id = 1',
  );
  return row?.identity ?? '';
}

/** Hash of the canonical block of this height, if it is indexed. */
export async function hashAt(handle: Handle, number: number): Promise<Hash | null> {
  const [row] = await rowsOf<Pick<IndexTables['blocks'], 'hash'>>(
    handle,
    'select hash from blocks where number = ?',
    [number],
  );
  return row === undefined ? null : hexOf(row.hash);
}

/** Lowest indexed height, where walking back ends. */
export async function firstNumber(handle: Handle): Promise<number | null> {
  const [row] = await rowsOf<Pick<IndexTables['blocks'], 'number'>>(
    handle,
    'select number from blocks where number >= 0 order by number limit 1',
  );
  return row?.number ?? null;
}

/** Claims an index for a chain. @throws when the database holds another chain's. */
export async function claimForChain(handle: Handle, chainId: number): Promise<void> {
  await execute(handle, 'insert into index_state (id, chain_id) values (1, ?) on conflict do nothing', [
    chainId,
  ]);
  const [row] = await rowsOf<Pick<IndexTables['index_state'], 'chain_id'>>(
    handle,
    'select chain_id from index_state where id = 1',
  );
  if (row?.chain_id !== chainId) {
    throw new Error(`The index holds chain ${row?.chain_id}, but chain ${chainId} is configured.`);
  }
}
