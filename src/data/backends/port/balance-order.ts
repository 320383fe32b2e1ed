import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import type { InsightsRequestOf } from './insights-backend.ts';

type TokenBalance = InsightsSchemas['TokenBalance'];
type BalanceQuery = InsightsRequestOf<'listTokenBalances'>['query'];
type Comparable = bigint | number | string | null;

/** Primary sort key of each order. */
const FIRST: Readonly<Record<BalanceQuery['sort_by'], (balance: TokenBalance) => Comparable>> = {
  balance: ({ balance }) => BigInt(balance),
  token_address: ({ token_address: address }) => address,
  token_price: ({ price_data: price }) => price?.price_usd ?? null,
  usd_value: ({ price_data: price }) => price?.usd_value ?? null,
};

/** Tie-breakers, in this order. */
const TIES: readonly ((balance: TokenBalance) => Comparable)[] = [
  ({ token_address: address }) => address,
  ({ token_id: id }) => (id === undefined ? -1n : BigInt(id)),
  ({ chain_id: id }) => id,
  ({ owner_address: owner = '' }) => owner,
];

/** True when the order needs prices, even if the answer does not show them. */
export function isOrderedByPrice({ sort_by: by }: Pick<BalanceQuery, 'sort_by'>): boolean {
  return by === 'token_price' || by === 'usd_value';
}

/** Sorts balances as requested. Those without a price come last (Decision 217). */
export function inBalanceOrder(
  balances: readonly TokenBalance[],
  { sort_by: by, sort_order: order }: Pick<BalanceQuery, 'sort_by' | 'sort_order'>,
): TokenBalance[] {
  const direction = order === 'asc' ? 1 : -1;
  const readers = [FIRST[by], ...TIES];
  return balances
    .map(balance => ({ balance, keys: readers.map(read => read(balance)) }))
    .sort((a, b) => {
      for (const [index, key] of a.keys.entries()) {
        const other = b.keys[index] ?? null;
        if (key === other) continue;
        if (key === null) return 1;
        if (other === null) return -1;
        return key < other ? -direction : direction;
      }
      return 0;
    })
    .map(({ balance }) => balance);
}
