import type { Hash } from 'viem';
import { hexOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';

/** The highest block in the index. Times are UTC milliseconds. */
export interface Head {
  number: number;
  hash: Hash;
  timestamp: number;
  /** Grows with every reorganisation deeper than the chain's confirmations: what was final was not. */
  epoch: number;
}

/** Null while the index is empty. */
export async function readHead(handle: Handle): Promise<Head | null> {
  const [row] = await handle.raw<{ number: number; hash: Buffer; timestamp: number; epoch: number }[]>(
    `select number, hash, timestamp, (select epoch from index_state where id = 1) as epoch
     from blocks where number >= 0 order by number desc limit 1`,
  );
  return row === undefined ? null : { ...row, hash: hexOf(row.hash) };
}

/** What tells this index from every other, also from an earlier one of the same chain. */
export async function readIdentity(handle: Handle): Promise<string> {
  const [row] = await handle.raw<{ identity: string }[]>('select identity from index_state where id = 1');
  return row?.identity ?? '';
}

/** Hash of the canonical block of this height, if it is indexed. */
export async function hashAt(handle: Handle, number: number): Promise<Hash | null> {
  const [row] = await handle.raw<{ hash: Buffer }[]>('select hash from blocks where number = ?', [number]);
  return row === undefined ? null : hexOf(row.hash);
}

/** Lowest indexed height, where walking back ends. */
export async function firstNumber(handle: Handle): Promise<number | null> {
  const [row] = await handle.raw<{ number: number }[]>(
    'select number from blocks where number >= 0 order by number limit 1',
  );
  return row?.number ?? null;
}

/** Claims an index for a chain. @throws when the file holds another chain's. */
export async function claimForChain(handle: Handle, chainId: number): Promise<void> {
  await handle.raw('insert into index_state (id, chain_id) values (1, ?) on conflict do nothing', [chainId]);
  const [row] = await handle.raw<{ chain_id: number }[]>('select chain_id from index_state where id = 1');
  if (row?.chain_id !== chainId) {
    throw new Error(`The index file holds chain ${row?.chain_id}, but chain ${chainId} is configured.`);
  }
}
