import type { Address } from 'viem';
import { bytesColumn, hexOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';
import type { Abis } from '../../evm/abi/abi.ts';
import type { IndexTables } from '../schema/columns.ts';
import type { ComputedIndexColumns } from '../schema/computed-columns.ts';
import { searchKey } from '../schema/search-key.ts';
import { addresses } from './addresses.ts';
import type { Page } from './page.ts';

/** A token or contract found by a name, and that name in the form in which names are compared. */
export interface NamedAddress {
  term: string;
  address: Address;
}

export interface NameQuery {
  /** What the name begins with, in any letter case; nothing is found by a text in which nothing shows. */
  prefix: string;
  /** The last one of the page before; its term begins so, too. */
  after?: NamedAddress;
  /** At least 1. */
  limit: number;
}

const NOTHING: Page<NamedAddress> = { items: [], hasMore: false };

/** No key holds a character behind this one, which itself is none. */
export const BEHIND_ALL = '\u{10FFFF}';

/**
 * Tokens whose name or symbol begins so, each once, by the first of its terms that does. The second term of a
 * token is passed over where it comes, which is never before the first.
 */
export async function tokensNamed(handle: Handle, query: NameQuery): Promise<Page<NamedAddress>> {
  const prefix = searchKey(query.prefix);
  if (prefix === '') return NOTHING;
  const { after = { term: prefix, address: '0x' }, limit } = query;
  const rows = await rowsOf<IndexTables['token_terms']>(
    handle,
    `select t.term, t.token from token_terms t
     where (t.term, t.token) > (?, ?) and t.term < ? and not exists (
       select 1 from token_terms o where o.token = t.token and o.term >= ? and o.term < t.term)
     order by t.term, t.token limit ?`,
    [after.term, bytesColumn(after.address), prefix + BEHIND_ALL, prefix, limit + 1],
  );
  const items = rows.slice(0, limit).map(({ term, token }) => ({ term, address: hexOf(token) }));
  return { items, hasMore: rows.length > limit };
}

/** Contracts on the chain whose known ABI has a name that begins so. There are as many as the operator has given. */
export async function contractsNamed(
  { handle, abis }: { handle: Handle; abis: Abis },
  query: NameQuery,
): Promise<Page<NamedAddress>> {
  const prefix = searchKey(query.prefix);
  if (prefix === '') return NOTHING;
  const { after, limit } = query;
  const named = abis
    .namedContracts()
    .map(({ name, address }) => ({ term: searchKey(name), address: hexOf(bytesColumn(address)) }))
    .filter(entry => entry.term.startsWith(prefix) && (after === undefined || isAfter(entry, after)))
    .sort((a, b) => (isAfter(a, b) ? 1 : -1));
  const rows = await addresses(
    { handle, abis },
    named.map(({ address }) => address),
  );
  const found = named.filter((_, index) => rows[index]?.isContract === true);
  return { items: found.slice(0, limit), hasMore: found.length > limit };
}

/** Whether the address has coins or code, or had a part in any transaction, transfer or withdrawal. */
export async function isOnChain(handle: Handle, address: Address): Promise<boolean> {
  const looks = APPEARANCES.map(([table, column, key]) => {
    const range = { columns: [column], values: [bytesColumn(address)], keys: [key], order: 'asc' } as const;
    const { sql, bindings, order } = handle.dialect.keyRange(range);
    return {
      sql: `select 1 as is_found from (select 1 from ${table} where ${sql} order by ${order} limit 1) as found`,
      bindings,
    };
  });
  const rows = await rowsOf<Pick<ComputedIndexColumns, 'is_found'>>(
    handle,
    `select is_found from (${looks.map(({ sql }) => sql).join(' union all ')}) as found limit 1`,
    looks.flatMap(({ bindings }) => bindings),
  );
  return rows.length > 0;
}

/** Columns that name an address, each with what follows it in its index. */
const APPEARANCES = [
  ['addresses', 'address', 'address'],
  ['contracts', 'address', 'transaction_id'],
  ['tokens', 'address', 'address'],
  ['transactions', 'from_address', 'id'],
  ['transactions', 'to_address', 'id'],
  ['transactions', 'created_contract', 'id'],
  ['token_transfers', 'from_address', 'token_type'],
  ['token_transfers', 'to_address', 'token_type'],
  ['internal_transactions', 'from_address', 'id'],
  ['internal_transactions', 'to_address', 'id'],
  ['withdrawals', 'address', 'id'],
  ['blocks', 'miner', 'number'],
] as const;

function isAfter(entry: NamedAddress, other: NamedAddress): boolean {
  return entry.term === other.term ? entry.address > other.address : entry.term > other.term;
}
