import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import type { TokenRow } from '#indexer/read/tokens/tokens.ts';
import type { IndexSource, RateBook } from '../source/source.ts';
import { quotesOf } from './quotes.ts';
import { numberOf } from './ratio.ts';

/** Prices remembered, each until the next block. */
const REMEMBERED = 10_000;

/** Prices of a chain with an exchange, once its index has the whole chain. Others have none. */
export function rateBook(
  source: Pick<IndexSource, 'reader' | 'exchange'>,
  { revision, isWhole }: { readonly revision: () => string; readonly isWhole: () => boolean },
): RateBook {
  const { reader, exchange } = source;
  const wrapped = exchange?.native?.wrapped;
  const known = new LRUCache<string, Promise<string | null>>({ max: REMEMBERED });

  async function ofTokens(rows: readonly TokenRow[]): Promise<ReadonlyMap<Address, string>> {
    if (exchange === undefined || !isWhole()) return new Map();
    const now = revision();
    const keyOf = ({ address }: TokenRow) => `${now} ${address}`;
    const fungible = rows.filter(({ type }) => type === 'ERC-20');
    const unknown = fungible.filter(row => !known.has(keyOf(row)));
    if (unknown.length > 0) {
      const asked = priced(unknown);
      for (const row of unknown) {
        const rate = asked.then(rates => rates.get(row.address) ?? null);
        known.set(keyOf(row), rate);
        rate.catch(() => known.delete(keyOf(row)));
      }
    }
    const rates = await Promise.all(
      fungible.map(async row => [row.address, (await known.get(keyOf(row))) ?? null] as const),
    );
    return new Map(rates.flatMap(([address, rate]) => (rate === null ? [] : [[address, rate]])));
  }

  async function priced(rows: readonly TokenRow[]): Promise<Map<Address, string>> {
    const [head, quotes] = await Promise.all([reader.markets.momentOf(undefined), quotesOf(source, rows)]);
    if (head === null || quotes === null) return new Map();
    const { dollar, tokenOf, quoteAt } = quotes;
    const rates = await Promise.all(
      rows.map(async row => {
        if (row.address === dollar.address) return [row.address, 1] as const;
        const token = tokenOf(row);
        const quote = token && (await quoteAt(token, head.time));
        return [row.address, quote ? numberOf(quote.price) : Number.NaN] as const;
      }),
    );
    return new Map(
      rates.flatMap(([address, rate]) => (Number.isFinite(rate) ? [[address, String(rate)]] : [])),
    );
  }

  return {
    ofTokens,
    async ofCoin() {
      if (wrapped === undefined || !isWhole()) return null;
      // Almost every answer has this price, so the token is not read for each of them.
      const rate = known.get(`${revision()} ${wrapped}`);
      return rate ?? (await ofTokens(await reader.tokens([wrapped]))).get(wrapped) ?? null;
    },
  };
}
