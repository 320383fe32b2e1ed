import { formatEther } from 'viem';
import type { CoinHolderPlace } from '#indexer/read/addresses.ts';
import type { Answers } from '../port/backend.ts';
import type { CursorPosition } from '../port/cursor.ts';
import { checksummed } from './parts/format.ts';
import { loadParties } from './parts/parties.ts';
import { addressKey, type Keys, uintKey, wholeKeys } from './source/position.ts';
import { assertWhole, cursorFields, type IndexSource, PAGE_SIZE } from './source/source.ts';

/** Holders of the native coin, limited to addresses that the index has seen (Decision 40). */
export function addressAnswers(source: IndexSource): Pick<Answers, 'listAddresses'> {
  const { reader } = source;
  return {
    async listAddresses({ query }, { position }) {
      assertWhole(source);
      const before = holderBefore(position, query);
      const [{ items, hasMore }, { coinSupply }] = await Promise.all([
        reader.coinHolders({ limit: PAGE_SIZE, ...(before === undefined ? {} : { before }) }),
        reader.totals(),
      ]);
      const parties = await loadParties(reader, { addresses: items.map(({ address }) => address) });
      const last = items.at(-1);
      const at =
        last === undefined
          ? undefined
          : {
              fetched_coin_balance: last.balance.toString(),
              hash: checksummed(last.address),
              transaction_count: last.transactionCount,
            };
      return {
        body: {
          exchange_rate: null,
          total_supply: formatEther(coinSupply),
          items: items.map(row => ({
            ...parties.address(row.address),
            coin_balance: row.balance.toString(),
            transaction_count: row.transactionCount.toString(),
          })),
          next_page_params:
            hasMore && at !== undefined
              ? { ...at, items_count: items.length, ...cursorFields(source, at) }
              : null,
        },
      };
    },
  };
}

/** Reads a position, made of balance and address. The transaction count is part of the keys but is not used. */
function holderBefore(position: CursorPosition | undefined, query: Keys): CoinHolderPlace | undefined {
  const keys = wholeKeys({ position, query }, ['fetched_coin_balance', 'hash', 'transaction_count']);
  if (keys === undefined) return undefined;
  return { balance: uintKey(keys.fetched_coin_balance), address: addressKey(keys.hash) };
}
