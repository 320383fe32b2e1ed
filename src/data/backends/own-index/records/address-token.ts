import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { TokenHoldingRow } from '#indexer/read/tokens/token-holdings.ts';
import type { Parties } from '../parts/parties.ts';
import { type DescribedInstance, tokenInstance } from './token-instance.ts';

/** One balance of an address, with the instance where the balance is of a single id. */
export function addressToken(
  row: TokenHoldingRow,
  instance: DescribedInstance | undefined,
  parties: Parties,
): ExplorerSchemas['AddressToken'] {
  return {
    ...(instance === undefined ? {} : { token_instance: tokenInstance(instance, parties) }),
    value: row.value.toString(),
    token_id: row.tokenId?.toString() ?? null,
    token: tokenInfo(parties.token(row.token)),
  };
}

/** Decision 3: `holders` is a number in this list, and only here. */
function tokenInfo(token: ExplorerSchemas['Token'] | null): ExplorerSchemas['AddressTokenInfo'] | null {
  if (token === null) return null;
  const { name, decimals, symbol, address, type, exchange_rate, total_supply, holders } = token;
  return {
    name,
    decimals,
    symbol,
    address,
    type,
    exchange_rate,
    total_supply,
    holders: holders === null ? null : Number(holders),
  };
}
