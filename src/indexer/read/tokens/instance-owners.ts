import type { Address } from 'viem';
import { bytesColumn, hexOf, uintColumn } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import type { InstanceKey } from '#evm/token-id.ts';

/** Well below SQLite's limit of terms in a compound select. */
const KEYS_PER_STATEMENT = 100;

/** Who has each of the instances, in their order, at most `limit` addresses each by address. */
export async function instanceOwners(
  handle: Handle,
  wanted: readonly InstanceKey[],
  limit: number,
): Promise<Address[][]> {
  const owners: Address[][] = [];
  for (let first = 0; first < wanted.length; first += KEYS_PER_STATEMENT) {
    const part = wanted.slice(first, first + KEYS_PER_STATEMENT);
    const rows = await handle.raw<{ place: number; owner: Buffer }[]>(
      part
        .map(({ type }, place) => `select ${place} as place, owner from (${OWNERS[type]})`)
        .join(' union all '),
      part.flatMap(({ token, tokenId }) => [bytesColumn(token), uintColumn(tokenId), limit]),
    );
    const found = Map.groupBy(rows, ({ place }) => place);
    owners.push(...part.map((_, place) => (found.get(place) ?? []).map(({ owner }) => hexOf(owner))));
  }
  return owners;
}

/** SQLite by itself would rather walk all balances of the token. */
const OWNERS = {
  'ERC-721': 'select owner from token_instances where token = ? and token_id = ? limit ?',
  'ERC-1155': `select holder as owner from token_balances indexed by token_balances_by_instance
    where token = ? and token_id = ? and token_id <> '' order by holder limit ?`,
} as const;
