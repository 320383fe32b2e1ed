import type { Handle } from '../../db/open.ts';
import { type BlockPosition, blockStart, LAST_PLACE, positionKey } from '../schema/block-position.ts';

/** One page of a list. The last item's place, handed back as `before` or `after`, asks for the next. */
export interface Page<Item> {
  items: Item[];
  hasMore: boolean;
}

/** A page of a list that runs newest first. */
export interface PageRequest {
  /** Only what lies before this place; the newest when absent. */
  before?: BlockPosition;
  /** At least 1. */
  limit: number;
}

/** A page of a list that runs in the order in which things happened. */
export interface ForwardPageRequest {
  /** Only what lies behind this place; the first when absent. */
  after?: BlockPosition;
  /** At least 1. */
  limit: number;
}

/** A condition that an index answers already sorted by key. What several branches of a query find counts once. */
export interface Branch {
  where: string;
  bindings: readonly (string | number | Buffer)[];
}

/** Every row of the table. */
export const EVERYTHING: Branch = { where: 'true', bindings: [] };

interface KeyQuery extends PageRequest, ForwardPageRequest {
  table: 'transactions' | 'logs' | 'token_transfers' | 'internal_transactions';
  branches: readonly Branch[];
  blockNumber?: number | undefined;
  /** Newest first unless said otherwise. */
  forward?: boolean;
}

/** Well below SQLite's limit of terms in a compound select. */
const BRANCHES_PER_STATEMENT = 100;

/**
 * Keys of the page's rows, and of one more if there is one. Each branch reads `limit + 1` entries of an index
 * and stops, so the cost depends on the limit and the number of branches, not on the length of the chain.
 */
export async function pageKeys(
  handle: Handle,
  query: KeyQuery,
): Promise<{ keys: number[]; hasMore: boolean }> {
  const { table, branches, limit, before, after, blockNumber, forward = false } = query;
  const start = blockNumber === undefined ? 0 : blockStart(blockNumber);
  const lowest = after === undefined ? start : Math.max(start, positionKey(after) + 1);
  const order = forward ? 'asc' : 'desc';
  const end = blockNumber === undefined ? LAST_PLACE : blockStart(blockNumber + 1);
  const below = before === undefined ? end : Math.min(end, positionKey(before));
  const found = new Set<number>();
  for (let first = 0; first < branches.length; first += BRANCHES_PER_STATEMENT) {
    const part = branches.slice(first, first + BRANCHES_PER_STATEMENT);
    const sql = part.map(
      ({ where }) =>
        `select id from (select id from ${table} where ${where} and id >= ? and id < ? order by id ${order} limit ?)`,
    );
    const bindings = part.flatMap(branch => [...branch.bindings, lowest, below, limit + 1]);
    const rows = await handle.raw<{ id: number }[]>(sql.join(' union all '), bindings);
    for (const { id } of rows) found.add(id);
  }
  const keys = [...found].sort((a, b) => (forward ? a - b : b - a));
  return { keys: keys.slice(0, limit), hasMore: keys.length > limit };
}

/** The rows of a page in the order of their keys. */
export function inOrder<Row extends { id: number }>(keys: readonly number[], rows: readonly Row[]): Row[] {
  const byKey = new Map(rows.map(row => [row.id, row]));
  return keys.flatMap(key => byKey.get(key) ?? []);
}
