import type { Address } from 'viem';
import { type Binding, bytesColumn } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { enclosed, readRows, unionAll } from '#db/select/select.ts';
import { NAMELESS_RANK, RANKED_CHARACTERS } from '../../schema/block-tables.ts';
import { searchKey } from '../../schema/search-key.ts';
import { select } from '../../schema/select.ts';
import { TOKEN_TYPES, type TokenType, tokenTypeColumn } from '../../schema/transaction-types.ts';
import type { Page } from '../page.ts';
import { BEHIND_ALL } from '../search.ts';
import { TOKEN, type TokenRow, tokenRowOf, tokens } from './tokens.ts';

/** Position of a token in the list. Its number of holders is the one at the time of the previous page. */
export interface TokenPosition {
  holderCount: number;
  address: Address;
}

export interface TokenListQuery {
  /** Tokens of one of these types. */
  types?: readonly TokenType[] | undefined;
  /** Start of a name or symbol, in any letter case. Without visible characters, all tokens match. */
  prefix?: string | undefined;
  /** `most` sorts by holders descending, then by name and address. `fewest` is the exact reverse. */
  first: 'most' | 'fewest';
  /** Only tokens after this position. */
  after?: TokenPosition | undefined;
  limit: number;
}

/** Maximum number of names and symbols per search, the first by name (Decision 191). */
const MAX_NAMES = 1_000;
/** Maximum number of names per statement. */
const NAMES_PER_STATEMENT = 100;

/** Tokens by their number of holders. */
export async function tokenList(handle: Handle, query: TokenListQuery): Promise<Page<TokenRow>> {
  const { types = TOKEN_TYPES, first, limit } = query;
  const prefix = searchKey(query.prefix ?? '');
  const after = query.after === undefined ? undefined : await rankOfPosition(handle, query.after);
  const wanted = { types: [...new Set(types)], first, limit, after };
  const found = prefix === '' ? await ranked(handle, wanted) : await tokensNamed(handle, prefix, wanted);
  const order = first === 'most' ? byRank : (a: Rank, b: Rank) => byRank(b, a);
  const rest = after === undefined ? found : found.filter(row => order(rankOf(row), after) > 0);
  const sorted = rest.toSorted((a, b) => order(rankOf(a), rankOf(b)));
  return { items: sorted.slice(0, limit), hasMore: sorted.length > limit };
}

interface ListRange extends Pick<TokenListQuery, 'first' | 'limit'> {
  readonly types: readonly TokenType[];
  readonly after: Rank | undefined;
}

/** First tokens of each type. */
async function ranked(handle: Handle, { types, first, limit, after }: ListRange): Promise<TokenRow[]> {
  if (types.length === 0) return [];
  const keys = after && [after.holderRank, after.nameRank, bytesColumn(after.address)];
  const branches = types.map(type => {
    const { sql, bindings, order } = handle.dialect.keyRange({
      columns: ['type'],
      values: [tokenTypeColumn(type)],
      keys: ['holder_rank', 'name_rank', 'address'],
      ...(first === 'most' ? { above: keys, order: 'asc' } : { below: keys, order: 'desc' }),
    });
    return enclosed(TOKEN.query(handle, `where ${sql} order by ${order} limit ?`, [...bindings, limit + 1]));
  });
  const rows = await readRows(handle, unionAll(branches));
  return rows.map(tokenRowOf);
}

/** Tokens with one of the first matching names. */
async function tokensNamed(handle: Handle, prefix: string, { types }: ListRange): Promise<TokenRow[]> {
  const found = new Map<Address, TokenRow>();
  let last: readonly Binding[] = [prefix, bytesColumn('')];
  for (let looked = 0; looked < MAX_NAMES; looked += NAMES_PER_STATEMENT) {
    const keyRange = handle.dialect.keyRange({
      columns: [],
      values: [],
      keys: ['term', 'token'],
      above: last,
      order: 'asc',
    });
    const range = `where ${keyRange.sql} and term < ? order by ${keyRange.order} limit ?`;
    const bindings = [...keyRange.bindings, prefix + BEHIND_ALL, NAMES_PER_STATEMENT];
    const names = await select({ from: 'token_terms', columns: ['term', 'token'] }).rows(
      handle,
      range,
      bindings,
    );
    const rows = await TOKEN.rows(
      handle,
      `where address ${handle.dialect.among(`select token from token_terms ${range}`)}`,
      bindings,
    );
    for (const row of rows.map(tokenRowOf)) found.set(row.address, row);
    const end = names.at(-1);
    if (end === undefined || names.length < NAMES_PER_STATEMENT) break;
    last = [end.term, end.token];
  }
  return [...found.values()].filter(({ type }) => types.includes(type));
}

/** Sort key of the list, from the most holders to the fewest. */
interface Rank {
  readonly holderRank: number;
  readonly nameRank: string;
  readonly address: Address;
}

function rankOf({ holderCount, name, address }: Pick<TokenRow, 'holderCount' | 'name' | 'address'>): Rank {
  const nameRank = name === null ? NAMELESS_RANK : [...name].slice(0, RANKED_CHARACTERS).join('');
  return { holderRank: -holderCount, nameRank, address };
}

/** Sort key of a position. A token removed by a reorganisation counts as nameless. */
async function rankOfPosition(handle: Handle, { holderCount, address }: TokenPosition): Promise<Rank> {
  const [token] = await tokens(handle, [address]);
  return rankOf({ holderCount, name: token?.name ?? null, address });
}

/** Compares sort keys. Names compare by their UTF-8 bytes, as in the databases. */
function byRank(a: Rank, b: Rank): number {
  return (
    a.holderRank - b.holderRank ||
    Buffer.compare(Buffer.from(a.nameRank), Buffer.from(b.nameRank)) ||
    (a.address < b.address ? -1 : a.address > b.address ? 1 : 0)
  );
}
