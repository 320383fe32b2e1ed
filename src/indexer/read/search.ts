import type { Address } from 'viem';
import { bytesColumn, hexOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import type { Abis } from '../../evm/abi/abi.ts';
import { searchKey, searchTerms } from '../schema/search-key.ts';
import { select } from '../schema/select.ts';
import { addresses } from './addresses.ts';
import type { Page } from './page.ts';

/** Token or contract found by name, with the normalized name that matched. */
export interface NamedAddress {
  term: string;
  address: Address;
}

export interface NameQuery {
  /** Start of a word of the name, in any letter case. A text without visible characters finds nothing. */
  prefix: string;
  /** Last item of the previous page. Its term must start with the prefix too. */
  after?: NamedAddress;
  /** At least 1. */
  limit: number;
}

const NOTHING: Page<NamedAddress> = { items: [], hasMore: false };

/** Sorts after every key, because keys cannot contain this code point. */
export const BEHIND_ALL = '\u{10FFFF}';

/**
 * Tokens with a prefix at the start of a word of their name or symbol, without duplicates, by the first matching term.
 * A token's further matching terms are skipped; they always sort after the first.
 */
export async function tokensNamed(handle: Handle, query: NameQuery): Promise<Page<NamedAddress>> {
  const prefix = searchKey(query.prefix);
  if (prefix === '') return NOTHING;
  const { after = { term: prefix, address: '0x' }, limit } = query;
  const rows = await select({ from: 'token_terms t', columns: ['t.term', 't.token'] }).rows(
    handle,
    `where (t.term, t.token) > (?, ?) and t.term < ? and not exists (
       select 1 from token_terms o where o.token = t.token and o.term >= ? and o.term < t.term)
     order by t.term, t.token limit ?`,
    [after.term, bytesColumn(after.address), prefix + BEHIND_ALL, prefix, limit + 1],
  );
  const items = rows.slice(0, limit).map(({ term, token }) => ({ term, address: hexOf(token) }));
  return { items, hasMore: rows.length > limit };
}

/** Contracts on the chain whose known ABI has a name with a prefix at the start of a word. The operator configures these. */
export async function contractsNamed(
  { handle, abis }: { handle: Handle; abis: Abis },
  query: NameQuery,
): Promise<Page<NamedAddress>> {
  const prefix = searchKey(query.prefix);
  if (prefix === '') return NOTHING;
  const { after, limit } = query;
  const named = abis
    .namedContracts()
    .flatMap(({ name, address }) => {
      const [term] = searchTerms(name)
        .filter(one => one.startsWith(prefix))
        .toSorted();
      return term === undefined ? [] : [{ term, address: hexOf(bytesColumn(address)) }];
    })
    .filter(entry => after === undefined || isAfter(entry, after))
    .sort((a, b) => (isAfter(a, b) ? 1 : -1));
  const rows = await addresses(
    { handle, abis },
    named.map(({ address }) => address),
  );
  const found = named.filter((_, index) => rows[index]?.isContract === true);
  return { items: found.slice(0, limit), hasMore: found.length > limit };
}

/** True when the address has coins or code, or took part in a transaction, transfer or withdrawal. */
export async function isOnChain(handle: Handle, address: Address): Promise<boolean> {
  const looks = APPEARANCES.map(([table, column, key]) => {
    const range = { columns: [column], values: [bytesColumn(address)], keys: [key], order: 'asc' } as const;
    const { sql, bindings, order } = handle.dialect.keyRange(range);
    return {
      sql: `select 1 as is_found from (select 1 from ${table} where ${sql} order by ${order} limit 1) as found`,
      bindings,
    };
  });
  const rows = await select({ computed: { is_found: ['count', 'is_found'] } }).rows(
    handle,
    `from (${looks.map(({ sql }) => sql).join(' union all ')}) as found limit 1`,
    looks.flatMap(({ bindings }) => bindings),
  );
  return rows.length > 0;
}

/** Columns that contain addresses, and the column that follows in the index. */
const APPEARANCES = [
  ['addresses', 'address', 'address'],
  ['contracts', 'address', 'transaction_id'],
  ['tokens', 'address', 'address'],
  ['transactions', 'from_address', 'id'],
  ['transactions', 'to_address', 'id'],
  ['transactions', 'created_contract', 'id'],
  // Counts of transfers and validated blocks.
  ['address_counts', 'address', 'address'],
  ['internal_transactions', 'from_address', 'id'],
  ['internal_transactions', 'to_address', 'id'],
  ['withdrawals', 'address', 'id'],
] as const;

function isAfter(entry: NamedAddress, other: NamedAddress): boolean {
  return entry.term === other.term ? entry.address > other.address : entry.term > other.term;
}
