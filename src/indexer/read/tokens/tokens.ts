import type { Address } from 'viem';
import { bytesColumn, hexOf, nullableUint } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { placeholders } from '#db/rows.ts';
import type { RowIn } from '#db/select/select.ts';
import { searchKey } from '../../schema/search-key.ts';
import { select } from '../../schema/select.ts';
import { type TokenType, tokenTypeColumn, tokenTypeOf } from '../../schema/transaction-types.ts';

/** A token as its contract describes itself. Missing values are null. */
export interface TokenRow {
  address: Address;
  type: TokenType;
  name: string | null;
  symbol: string | null;
  decimals: number | null;
  totalSupply: bigint | null;
  /** Addresses with a nonzero balance. */
  holderCount: number;
}

/** The known tokens among the addresses, in no particular order. */
export async function tokens(handle: Handle, addresses: readonly Address[]): Promise<TokenRow[]> {
  if (addresses.length === 0) return [];
  const rows = await TOKEN.rows(
    handle,
    `where address in (${placeholders(addresses.length)})`,
    addresses.map(bytesColumn),
  );
  return rows.map(tokenRowOf);
}

export const TOKEN = select({
  from: 'tokens',
  columns: ['address', 'type', 'name', 'symbol', 'decimals', 'total_supply', 'holder_count'],
});

export function tokenRowOf(row: RowIn<typeof TOKEN>): TokenRow {
  return {
    address: hexOf(row.address),
    type: tokenTypeOf(row.type),
    name: row.name,
    symbol: row.symbol,
    decimals: row.decimals,
    totalSupply: nullableUint(row.total_supply),
    holderCount: row.holder_count,
  };
}

/** Maximum tokens per symbol, those with the most holders. Any contract can use a known symbol. */
const TOKENS_A_SYMBOL = 100;

/**
 * Fungible tokens with one of these symbols, in any letter case. In the order of the symbols, then by number of
 * holders, then by address.
 */
export async function tokensWithSymbols(handle: Handle, symbols: readonly string[]): Promise<TokenRow[]> {
  const wanted = [...new Set(symbols.map(folded))];
  const keys = [...new Set(wanted.map(searchKey))].filter(key => key !== '');
  if (keys.length === 0) return [];
  // Terms include names and texts that only normalize to the symbol, so the rows are filtered below.
  const rows = await select({
    from: 'token_terms s',
    join: ['tokens t on t.address = s.token'],
    columns: ['t.address', 't.type', 't.name', 't.symbol', 't.decimals', 't.total_supply', 't.holder_count'],
  }).rows(handle, `where s.term in (${placeholders(keys.length)}) and t.type = ?`, [
    ...keys,
    tokenTypeColumn('ERC-20'),
  ]);
  const bySymbol = Map.groupBy(rows, ({ symbol }) => (symbol === null ? null : folded(symbol)));
  return wanted.flatMap(symbol => {
    const named = new Map(bySymbol.get(symbol)?.map(row => [row.address.toString('hex'), row]));
    return [...named.values()]
      .sort((a, b) => b.holder_count - a.holder_count || a.address.compare(b.address))
      .slice(0, TOKENS_A_SYMBOL)
      .map(tokenRowOf);
  });
}

function folded(symbol: string): string {
  return symbol.toLowerCase();
}
