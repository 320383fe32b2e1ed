import type { Hash } from 'viem';
import { bytesColumn, hexOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { BOUND } from '#db/query.ts';
import { placeholders } from '#db/rows.ts';
import { type RowIn, unionAll } from '#db/select/select.ts';
import { blockStart, positionOf } from '../schema/block-position.ts';
import { select, selectWith } from '../schema/select.ts';
import { TOKEN_TYPES, tokenTypeColumn } from '../schema/transaction-types.ts';

/** Block as far as its activity needs it. Times are UTC milliseconds. */
export interface BlockMark {
  readonly number: number;
  readonly hash: Hash;
  readonly timestamp: number;
}

/** Transaction of a block in which something watched is active. */
export interface Activity {
  /** Address, token or transaction hash, as asked for. */
  readonly watched: string;
  readonly transactionHash: Hash;
  readonly blockNumber: number;
}

/** Kind of what is watched, and thus the columns that are searched. */
type WatchedKind = 'address' | 'token' | 'transaction';

/** Question for the activity in blocks `from` to `to`. */
export interface ActivityQuery {
  readonly kind: WatchedKind;
  /** Addresses or hashes in lower case, at least one. */
  readonly values: readonly string[];
  readonly from: number;
  readonly to: number;
  /** Maximum number of rows, the earliest ones. */
  readonly limit: number;
}

/** Blocks `from` to `to` of the canonical chain, ascending, at most `limit`. */
export async function blockMarks(
  handle: Handle,
  { from, to, limit }: { from: number; to: number; limit: number },
): Promise<BlockMark[]> {
  const rows = await MARK.rows(handle, `where number between ? and ? order by number limit ${BOUND}`, [
    from,
    to,
    limit,
  ]);
  return rows.map(({ number, hash, timestamp }) => ({ number, hash: hexOf(hash), timestamp }));
}

/** Blocks that are no longer on the chain, from `from` to `to`, at most `limit`, the highest first. */
export async function orphanedMarks(
  handle: Handle,
  { from, to, limit }: { from: number; to: number; limit: number },
): Promise<(BlockMark & { readonly parentHash: Hash })[]> {
  const rows = await ORPHAN.rows(
    handle,
    `where kind = 'reorg' and number between ? and ? order by number desc, hash desc limit ${BOUND}`,
    [from, to, limit],
  );
  return rows.map(({ number, hash, parent_hash, timestamp }) => ({
    number,
    hash: hexOf(hash),
    parentHash: hexOf(parent_hash),
    timestamp,
  }));
}

const MARK = select({ from: 'blocks', columns: ['number', 'hash', 'timestamp'] });
const ORPHAN = select({ from: 'stale_blocks', columns: ['number', 'hash', 'parent_hash', 'timestamp'] });

/**
 * Transactions of some blocks in which something watched is active (Decision 408), in chain order. Each condition is an
 * equality on an index and a range of keys, so the cost depends on what is found and not on the length of the chain.
 */
export async function activity(handle: Handle, query: ActivityQuery): Promise<Activity[]> {
  const { kind, values, from, to, limit } = query;
  const list = placeholders(values.length);
  const parties = `(select id from transfer_parties where address in (${list}))`;
  const inRange = (key: string) => `${key} >= ? and ${key} < ?`;
  const bindings = [...values.map(bytesColumn), blockStart(from), blockStart(to + 1)];
  const conditions = {
    address: [
      ...ADDRESS_COLUMNS.map(({ column, key, selection }) => ({
        selection,
        where: `${column} in (${list}) and ${inRange(key)}`,
      })),
      ...TRANSFER_COLUMNS.map(({ column, selection }) => ({
        selection,
        where: `${column} in ${parties} and x.token_type in (${ALL_TYPES}) and ${inRange('x.id')}`,
      })),
    ],
    token: [{ selection: OF_TOKEN, where: `x.token_number in ${parties} and ${inRange('x.id')}` }],
    transaction: [{ selection: ITSELF, where: `t.hash in (${list}) and ${inRange('t.id')}` }],
  }[kind];
  const every = unionAll(
    conditions.map(({ selection, where }) => selection.query(handle, `where ${where}`, bindings)),
  );
  const rows = await selectWith<{ active: RowIn<typeof ITSELF> }>()({
    with: `with active as (select distinct watched, transaction_key from (${every.sql}) as every_side)`,
    from: 'active',
    join: ['transactions t on t.id = active.transaction_key'],
    columns: ['active.watched', 't.id'],
    hex: ['t.hash as transaction_hash'],
  }).rows(handle, `order by t.id, active.watched limit ${BOUND}`, [...every.bindings, limit]);
  return rows.map(({ watched, id, transaction_hash: transactionHash }) => ({
    watched,
    transactionHash,
    blockNumber: positionOf(id).blockNumber,
  }));
}

const ALL_TYPES = TOKEN_TYPES.map(tokenTypeColumn).join();

/** Transaction by what it was found by. */
const ITSELF = select({
  from: 'transactions t',
  computed: { watched: ['hex', 't.hash'], transaction_key: ['count', 't.id'] },
});
const OF_TOKEN = select({
  from: 'token_transfers x',
  computed: { watched: ['hex', 'x.token'], transaction_key: ['count', 'x.transaction_id'] },
});

const TRANSFER_COLUMNS = [
  {
    column: 'x.from_number',
    selection: select({
      from: 'token_transfers x',
      computed: { watched: ['hex', 'x.from_address'], transaction_key: ['count', 'x.transaction_id'] },
    }),
  },
  {
    column: 'x.to_number',
    selection: select({
      from: 'token_transfers x',
      computed: { watched: ['hex', 'x.to_address'], transaction_key: ['count', 'x.transaction_id'] },
    }),
  },
] as const;

const ADDRESS_COLUMNS = [
  {
    column: 't.from_address',
    key: 't.id',
    selection: select({
      from: 'transactions t',
      computed: { watched: ['hex', 't.from_address'], transaction_key: ['count', 't.id'] },
    }),
  },
  {
    column: 't.to_address',
    key: 't.id',
    selection: select({
      from: 'transactions t',
      computed: { watched: ['hex', 't.to_address'], transaction_key: ['count', 't.id'] },
    }),
  },
  {
    column: 't.created_contract',
    key: 't.id',
    selection: select({
      from: 'transactions t',
      computed: { watched: ['hex', 't.created_contract'], transaction_key: ['count', 't.id'] },
    }),
  },
  {
    column: 'i.from_address',
    key: 'i.id',
    selection: select({
      from: 'internal_transactions i',
      computed: { watched: ['hex', 'i.from_address'], transaction_key: ['count', 'i.transaction_id'] },
    }),
  },
  {
    column: 'i.to_address',
    key: 'i.id',
    selection: select({
      from: 'internal_transactions i',
      computed: { watched: ['hex', 'i.to_address'], transaction_key: ['count', 'i.transaction_id'] },
    }),
  },
  {
    column: 'i.created_contract',
    key: 'i.id',
    selection: select({
      from: 'internal_transactions i',
      computed: { watched: ['hex', 'i.created_contract'], transaction_key: ['count', 'i.transaction_id'] },
    }),
  },
] as const;
