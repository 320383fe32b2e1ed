import type { Address } from 'viem';
import { bytesColumn, hexOf, uintOrNull } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { placeholders } from '#db/rows.ts';
import { searchKey } from '../../schema/search-key.ts';
import { type TokenType, tokenTypeColumn, tokenTypeOf } from '../../schema/transaction-types.ts';

/** A token as its contract describes itself; what it does not say is null. */
export interface TokenRow {
  address: Address;
  type: TokenType;
  name: string | null;
  symbol: string | null;
  decimals: number | null;
  totalSupply: bigint | null;
  /** Addresses with a balance other than zero. */
  holderCount: number;
}

/** Those of the addresses that are known tokens, in no particular order. */
export async function tokens(handle: Handle, addresses: readonly Address[]): Promise<TokenRow[]> {
  if (addresses.length === 0) return [];
  const rows = await handle.raw<TokenColumns[]>(
    `select address, type, name, symbol, decimals, total_supply, holder_count from tokens
     where address in (${placeholders(addresses.length)})`,
    addresses.map(bytesColumn),
  );
  return rows.map(row => ({
    address: hexOf(row.address),
    type: tokenTypeOf(row.type),
    name: row.name,
    symbol: row.symbol,
    decimals: row.decimals,
    totalSupply: uintOrNull(row.total_supply),
    holderCount: row.holder_count,
  }));
}

interface TokenColumns {
  address: Buffer;
  type: number;
  name: string | null;
  symbol: string | null;
  decimals: number | null;
  total_supply: string | null;
  holder_count: number;
}

/** Anybody can give a token a known symbol: so many of those with the most holders are told of each. */
const TOKENS_A_SYMBOL = 100;

/**
 * Fungible tokens with one of these symbols, in any letter case: symbol by symbol as they are named, of each those with
 * more holders first, then by address.
 */
export async function tokensWithSymbols(handle: Handle, symbols: readonly string[]): Promise<TokenRow[]> {
  const found = new Set<Address>();
  for (const symbol of new Set(symbols.map(folded))) {
    for (const address of await addressesOf(handle, symbol)) found.add(address);
  }
  const rows = new Map((await tokens(handle, [...found])).map(row => [row.address, row]));
  return [...found].flatMap(address => rows.get(address) ?? []);
}

/** Terms are names as well, and what only looks like the symbol has its term too. */
async function addressesOf(handle: Handle, symbol: string): Promise<Address[]> {
  const key = searchKey(symbol);
  if (key === '') return [];
  const rows = await handle.raw<{ address: Buffer; symbol: string | null; holder_count: number }[]>(
    `select t.address, t.symbol, t.holder_count from token_terms s cross join tokens t on t.address = s.token
     where s.term = ? and t.type = ?`,
    [key, tokenTypeColumn('ERC-20')],
  );
  return rows
    .filter(row => row.symbol !== null && folded(row.symbol) === symbol)
    .sort((a, b) => b.holder_count - a.holder_count || a.address.compare(b.address))
    .slice(0, TOKENS_A_SYMBOL)
    .map(({ address }) => hexOf(address));
}

function folded(symbol: string): string {
  return symbol.toLowerCase();
}
