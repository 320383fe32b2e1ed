import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import type { InsightsAnswers, InsightsAsk } from '../port/insights-backend.ts';
import { foundToken, tokenPriceOrNull } from './normalise/token.ts';
import { isName, type Parameters, read, recordsOf, type ThirdwebSource } from './source.ts';

type TokenAnswers = Required<Pick<InsightsAnswers, 'lookUpTokens' | 'getTokenPrices'>>;
type TokenPrice = InsightsSchemas['TokenPrice'];

/** Maximum number of symbols per look-up upstream. Source: its contract. */
const SYMBOLS = 10;

/** Tokens by symbol, and their prices. */
export function tokenAnswers(source: ThirdwebSource): TokenAnswers {
  return {
    async lookUpTokens({ query }, ask) {
      const symbols = [...new Set(query.symbol)];
      const wanted = new Set(symbols.map(symbol => symbol.toLowerCase()));
      const answers = await Promise.all(
        chunks(symbols, SYMBOLS).map(some => {
          const parameters = some.map(symbol => ['symbol', symbol] as const);
          const get = { operation: 'lookUpTokens', path: '/tokens/lookup', parameters, ask } as const;
          return read(source, get, body => recordsOf(body, value => foundToken(value, ask), ask));
        }),
      );
      const found = answers.flat().filter(({ chain_id: id }) => ask.chainIds.includes(id));
      // Symbols must match as a whole (Decision 88).
      const matching = found.filter(({ symbol }) => symbol === undefined || wanted.has(symbol.toLowerCase()));
      return eachOnce(matching, token => `${token.chain_id} ${token.token_address}`);
    },

    async getTokenPrices({ query }, ask) {
      const { address: addresses = [], symbol: symbols = [], timestamp } = query;
      // Upstream refuses 0, and no token had a price at that time.
      if (timestamp === 0) return [];
      const shared: Parameters = [
        ...(timestamp === undefined ? [] : [['timestamp', String(timestamp)] as const]),
        ...flag('include_historical_prices', query.include_historical_prices),
        ...flag('include_holders', query.include_holders),
      ];
      // Separate requests, because upstream does not define the result of addresses and symbols together.
      const answers = await Promise.all([
        prices('address', addresses, shared, ask),
        prices('symbol', symbols, shared, ask),
      ]);
      return eachOnce(answers.flat(), price => `${price.chain_id} ${price.address}`);
    },
  };

  async function prices(
    name: 'address' | 'symbol',
    values: readonly string[],
    shared: Parameters,
    ask: InsightsAsk,
  ): Promise<TokenPrice[]> {
    if (values.length === 0) return [];
    const parameters = [...values.map(value => [name, value] as const), ...shared];
    const missing = name === 'address' && values.some(isName) ? 'the name' : 'nothing';
    const get = { operation: 'getTokenPrices', path: '/tokens/price', parameters, ask, missing } as const;
    const found = await read(source, get, body =>
      recordsOf(body, value => tokenPriceOrNull(value, ask), ask),
    );
    return found.filter(price => price !== null).filter(({ chain_id: id }) => ask.chainIds.includes(id));
  }
}

/** A flag as a parameter; upstream's default is false. */
function flag(name: string, value: 'true' | 'false'): Parameters {
  return value === 'true' ? [[name, 'true']] : [];
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  const parts: Item[][] = [];
  for (let from = 0; from < items.length; from += size) parts.push(items.slice(from, from + size));
  return parts;
}

function eachOnce<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return [...new Map(items.map(item => [keyOf(item), item])).values()];
}
