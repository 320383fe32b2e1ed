import type { Answers } from '../port/backend.ts';
import { isOfKind } from '../port/backend-error.ts';
import { type BlockscoutSource, read } from './client/source.ts';
import { coinBalance, coinBalancesByDay } from './normalise/holdings.ts';
import { BLOCK_SETS, blockKeys } from './paging/cursor-params.ts';
import { readList } from './paging/list.ts';
import { positionFrom } from './paging/position.ts';

type CoinHistoryAnswers = Pick<Answers, 'listAddressCoinBalances' | 'getAddressCoinBalancesByDay'>;

/** Coin balance history of an address. Up to 6.9 an address without a record is a 404. */
export function coinHistoryAnswers(source: BlockscoutSource): CoinHistoryAnswers {
  return {
    async listAddressCoinBalances({ path: { address_hash: address }, query }, ask) {
      try {
        const { body } = await readList(
          source,
          {
            operation: 'listAddressCoinBalances',
            path: `/addresses/${address}/coin-balance-history`,
            start: positionFrom(query, BLOCK_SETS),
            item: coinBalance,
            keys: blockKeys,
          },
          ask,
        );
        return { body };
      } catch (error) {
        if (!isOfKind(error, 'not_found')) throw error;
        return { body: { items: [], next_page_params: null } };
      }
    },

    async getAddressCoinBalancesByDay({ path: { address_hash: address } }, { signal }) {
      const path = `/addresses/${address}/coin-balance-history-by-day`;
      const get = { operation: 'getAddressCoinBalancesByDay', path, signal } as const;
      try {
        return { body: await read(source, get, coinBalancesByDay) };
      } catch (error) {
        if (!isOfKind(error, 'not_found')) throw error;
        return { body: { days: null, items: [] } };
      }
    },
  };
}
