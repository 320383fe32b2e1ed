import type { Address } from 'viem';
import { bytesColumn, hexOf, uintOrNull } from '#db/columns.ts';
import { placeholders } from '#db/insert.ts';
import type { Handle } from '#db/open.ts';
import { type TokenType, tokenTypeOf } from '../../schema/transaction-types.ts';

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
