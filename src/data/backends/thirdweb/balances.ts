import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { BackendError } from '../port/backend-error.ts';
import { isOrderedByPrice } from '../port/balance-order.ts';
import type { InsightsAnswers, InsightsAsk, InsightsRequestOf } from '../port/insights-backend.ts';
import { tokenBalance } from './normalise/token.ts';
import { rowsOfPage } from './short-pages.ts';
import { isName, type Parameters, read, recordsOf, type ThirdwebSource } from './source.ts';

type TokenBalance = InsightsSchemas['TokenBalance'];
type Query = InsightsRequestOf<'listTokenBalances'>['query'];

/** Balances of owners. Upstream lists only the coin and ERC-20 tokens (Decision 216). */
export function balanceAnswers(source: ThirdwebSource): Required<Pick<InsightsAnswers, 'listTokenBalances'>> {
  return {
    async listTokenBalances({ query }, ask) {
      const { token_type: kinds } = query;
      if (kinds !== undefined && !isListed(kinds)) throw notListed();
      const owners = [...new Set(query.owner_address.map(owner => owner.toLowerCase()))];
      const pages = await Promise.all(owners.map(owner => pageOf(source, { owner, query }, ask)));
      return pages.flat().filter(balance => kinds?.includes(balance.token_type) ?? true);
    },
  };
}

/**
 * True when upstream can list these types. A flag excludes the coin; ERC-20 tokens are always listed and NFTs never.
 */
function isListed(kinds: NonNullable<Query['token_type']>): boolean {
  return kinds.includes('erc20') && kinds.every(kind => kind === 'erc20' || kind === 'native');
}

function notListed(): BackendError {
  return new BackendError('unsupported', 'no_such_answer', 'it does not list such tokens among balances');
}

/** Reads a page of one owner. Upstream's balances do not name their owner, so each owner takes its own request. */
async function pageOf(
  source: ThirdwebSource,
  { owner, query }: { owner: string; query: Query },
  ask: InsightsAsk,
): Promise<TokenBalance[]> {
  const missing = [owner, ...(query.token_address ?? [])].some(isName) ? 'the name' : 'nothing';
  const rows = await rowsOfPage(query, ask, ({ limit, page }) => {
    const parameters: Parameters = [
      ['owner_address', owner],
      ['limit', String(limit)],
      ['page', String(page)],
      ...parametersOf(query),
    ];
    const get = { operation: 'listTokenBalances', path: '/tokens', parameters, ask, missing } as const;
    return read(source, get, body => recordsOf(body, value => tokenBalance(value, ask), ask));
  });
  // The address behind a name is unknown, because upstream does not return it.
  const held = rows.filter(({ balance }) => balance !== '0');
  return isName(owner) ? held : held.map(row => ({ ...row, owner_address: owner }));
}

/** Parameters that differ from upstream's defaults. Sorting by price needs the prices. */
function parametersOf(query: Query): Parameters {
  const { token_type: kinds, token_address: tokens = [] } = query;
  const isWithoutCoin = query.include_native === 'false' || kinds?.includes('native') === false;
  const flags: (readonly [string, boolean])[] = [
    ['metadata', query.metadata === 'true' || isOrderedByPrice(query)],
    ['include_spam', query.include_spam === 'true'],
  ];
  return [
    ...tokens.map(token => ['token_address', token] as const),
    ...flags.flatMap(([name, isGiven]) => (isGiven ? [[name, 'true'] as const] : [])),
    ...(isWithoutCoin ? [['include_native', 'false'] as const] : []),
    ...(query.metadata === 'true' && query.include_without_price === 'false'
      ? [['include_without_price', 'false'] as const]
      : []),
    ['sort_by', query.sort_by],
    ['sort_order', query.sort_order],
  ];
}
