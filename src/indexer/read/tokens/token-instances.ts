import type { Address } from 'viem';
import { bytesColumn, hexOf, uintColumn, uintOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import type { InstanceKey } from '#evm/token-id.ts';

/** Who has an id that somebody has. */
export interface InstanceRow extends InstanceKey {
  /** Whether there is exactly one of it. */
  isUnique: boolean;
  /** Null when several addresses have some. */
  onlyHolder: Address | null;
}

/** Each of the wanted instances in their order, null where nobody has one (any more). At most 250. */
export async function tokenInstances(
  handle: Handle,
  wanted: readonly InstanceKey[],
): Promise<(InstanceRow | null)[]> {
  if (wanted.length === 0) return [];
  const holders = await handle.raw<{ wanted: number; holder: Buffer; value: string }[]>(
    wanted
      .map(({ type }, place) => `select ${place} as wanted, * from (${HOLDERS[type]})`)
      .join(' union all '),
    wanted.flatMap(({ token, tokenId }) => [bytesColumn(token), uintColumn(tokenId)]),
  );
  const found = Map.groupBy(holders, row => row.wanted);
  return wanted.map((key, place) => {
    const [first, ...others] = found.get(place) ?? [];
    if (first === undefined) return null;
    const isAlone = others.length === 0;
    return {
      ...key,
      isUnique: isAlone && (first.value === '' || uintOf(first.value) === 1n),
      onlyHolder: isAlone ? hexOf(first.holder) : null,
    };
  });
}

/** Two holders tell as much as all of them. SQLite by itself would rather walk all balances of the token. */
const HOLDERS = {
  'ERC-721': `select owner as holder, '' as value from token_instances where token = ? and token_id = ?`,
  'ERC-1155': `select holder, value from token_balances indexed by token_balances_by_instance
    where token = ? and token_id = ? and token_id <> '' limit 2`,
} as const;
