import type { InsightsSchemas } from '../../contract/contracts/insights.ts';
import type { Caller } from '../../contract/contracts/operations.ts';
import { inBalanceOrder } from '../backends/port/balance-order.ts';
import type { InsightsRequestOf } from '../backends/port/insights-backend.ts';
import { lowerCase } from './record-answerers.ts';
import { chainsAskedFor } from './select-chains.ts';
import type { InsightsOptions, ServeInsights } from './serve-through-cache.ts';

type TokenBalance = InsightsSchemas['TokenBalance'];

/** Answers for what owners hold. */
export function holdingAnswerers(configured: InsightsOptions, serve: ServeInsights) {
  return {
    /** Balances of owners, in one order over all of them and all chains. Decisions 215 to 217. */
    async listTokenBalances(request: InsightsRequestOf<'listTokenBalances'>, caller: Caller) {
      const { query } = request;
      const { chain: _, chain_id: __, owner_address: owners, token_address: tokens, ...others } = query;
      return serve(
        {
          operation: 'listTokenBalances',
          chains: chainsAskedFor(configured, query, caller),
          identity: {
            ...others,
            owners: lowerCase(owners)?.sort(),
            tokens: lowerCase(tokens)?.sort(),
            token_type: lowerCase(query.token_type)?.sort(),
          },
          ask: (backend, ask) => backend.insights?.listTokenBalances?.(request, ask),
          bodyOf({ parts }) {
            const balances = inBalanceOrder(
              parts.flatMap(({ result }) => result),
              query,
            );
            return { data: query.metadata === 'true' ? balances : balances.map(withoutMetadata) };
          },
        },
        caller,
      );
    },
  };
}

/** An order by price needs it although the answer does not show it. */
function withoutMetadata({
  name: _,
  symbol: __,
  decimals: ___,
  price_data: ____,
  ...balance
}: TokenBalance): TokenBalance {
  return balance;
}
