import { type Address, ethAddress } from 'viem';
import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { NFT_TYPES } from '#evm/token-id.ts';
import type { OwnerBalanceRow } from '#indexer/read/tokens/owner-balances.ts';
import type { TokenRow } from '#indexer/read/tokens/tokens.ts';
import { BackendError } from '../../port/backend-error.ts';
import { inBalanceOrder, isOrderedByPrice } from '../../port/balance-order.ts';
import type { InsightsAnswers, InsightsRequestOf } from '../../port/insights-backend.ts';
import { resolveAddresses } from '../source/names.ts';
import { assertWhole, type IndexSource } from '../source/source.ts';
import { type Market, marketsOf } from './market.ts';
import { isNativeAddress, priceData } from './prices.ts';
import { numberOf } from './ratio.ts';

type Query = InsightsRequestOf<'listTokenBalances'>['query'];
type TokenBalance = InsightsSchemas['TokenBalance'];
type Kind = TokenBalance['token_type'];
type TokenType = TokenRow['type'];

const KINDS: Readonly<Record<TokenType, Exclude<Kind, 'native'>>> = {
  'ERC-20': 'erc20',
  'ERC-721': 'erc721',
  'ERC-1155': 'erc1155',
};
const TOKEN_TYPES: readonly TokenType[] = ['ERC-20', ...NFT_TYPES];
/** Decimal places of an amount of the coin, on every EVM chain. */
const COIN_DECIMALS = 18;
/** Most balances of an owner that are sorted for an answer. Decision 217. */
const MOST_SORTED = 2_000;

/** What a request asks of each owner. */
interface Selection {
  readonly owner: Address;
  readonly query: Query;
  readonly types: readonly TokenType[];
  /** Contracts; undefined for all. */
  readonly tokens: readonly Address[] | undefined;
  readonly withCoin: boolean;
}

/** Balances of owners, with prices where the chain has a market. Decisions 215 to 217. */
export function balanceAnswers(source: IndexSource): Pick<InsightsAnswers, 'listTokenBalances'> {
  return {
    async listTokenBalances({ query }) {
      assertWhole(source);
      const { owner_address, token_address, token_type: kinds, include_native: native } = query;
      const [owners, named] = await Promise.all([
        resolveAddresses(source, owner_address),
        token_address === undefined ? undefined : resolveAddresses(source, token_address),
      ]);
      const selection = {
        query,
        types: TOKEN_TYPES.filter(type => kinds?.includes(KINDS[type]) ?? true),
        tokens: named?.filter(token => !isNativeAddress(token)),
        withCoin:
          native === 'true' &&
          (kinds?.includes('native') ?? true) &&
          (named === undefined || named.some(isNativeAddress)),
      };
      const pages = await Promise.all(owners.map(owner => pageOf(source, { ...selection, owner })));
      return pages.flat();
    },
  };
}

async function pageOf(source: IndexSource, selection: Selection): Promise<TokenBalance[]> {
  const { query, types, tokens } = selection;
  const { limit, page } = query;
  if (limit === 0) return [];
  const isOfAll = tokens === undefined && types.length === TOKEN_TYPES.length && !isPricedOnly(query);
  if (query.sort_by === 'token_address' && isOfAll)
    return described(source, await pageByAddress(source, selection), selection);
  const all = await described(source, await heldRows(source, selection), selection);
  const kept = isPricedOnly(query) ? all.filter(({ price_data: price }) => price !== undefined) : all;
  return inBalanceOrder(kept, query).slice(page * limit, (page + 1) * limit);
}

function isPricedOnly({ metadata, include_without_price: others }: Query): boolean {
  return metadata === 'true' && others === 'false';
}

/** The coin has its place among the tokens, so the page may begin one row earlier than among these. */
async function pageByAddress(source: IndexSource, selection: Selection): Promise<OwnerBalanceRow[]> {
  const { owner: holder, query } = selection;
  const { limit, page, sort_order: order } = query;
  const offset = page * limit;
  const first = Math.max(0, offset - 1);
  const [coin, rows] = await Promise.all([
    coinOf(source, selection),
    source.reader.ownerBalances({ holder, order, limit: offset - first + limit, offset: first }),
  ]);
  if (coin === undefined) return rows.slice(offset - first);
  const isBehindCoin = ({ token }: OwnerBalanceRow) =>
    order === 'asc' ? token > ethAddress : token < ethAddress;
  if (offset > 0 && (rows[0] === undefined || isBehindCoin(rows[0]))) return rows.slice(0, limit);
  const others = rows.slice(offset - first);
  const place = others.findIndex(isBehindCoin);
  return others.toSpliced(place < 0 ? others.length : place, 0, coin).slice(0, limit);
}

/** All balances that are in question. @throws BackendError `rejected` when there are too many to sort. */
async function heldRows(source: IndexSource, selection: Selection): Promise<OwnerBalanceRow[]> {
  const { owner: holder, tokens, types } = selection;
  const { reader } = source;
  const limit = MOST_SORTED + 1;
  const [coin, rows] = await Promise.all([
    coinOf(source, selection),
    tokens === undefined
      ? types.length === 0
        ? []
        : reader.tokenHoldings({ holder, types, limit }).then(({ items }) => items)
      : reader.balancesOfTokens({ holder, tokens, limit }),
  ]);
  if (rows.length > MOST_SORTED) throw tooMany();
  return coin === undefined ? rows : [...rows, coin];
}

function tooMany(): BackendError {
  const message = `sort_by: an owner has more than ${MOST_SORTED} of these balances: name tokens with token_address`;
  return new BackendError('rejected', 'bad_input', message);
}

async function coinOf(
  source: IndexSource,
  { owner, withCoin }: Selection,
): Promise<OwnerBalanceRow | undefined> {
  const value = withCoin ? await source.reader.coinBalance(owner) : 0n;
  return value === 0n ? undefined : { token: ethAddress, tokenId: null, value };
}

/** Records of balances; of a kind that is not in question there are none. */
async function described(
  source: IndexSource,
  rows: readonly OwnerBalanceRow[],
  { owner, query, types }: Selection,
): Promise<TokenBalance[]> {
  const wrapped = source.exchange?.native?.wrapped;
  const known = await source.reader.tokens([
    ...new Set(rows.map(({ token }) => token)),
    ...(wrapped === undefined ? [] : [wrapped]),
  ]);
  const tokens = new Map(known.map(token => [token.address, token]));
  const fungible = known.filter(({ type }) => type === 'ERC-20');
  const needsPrices = query.metadata === 'true' || isOrderedByPrice(query);
  const markets = needsPrices ? await marketsOf(source, fungible, undefined) : new Map<Address, Market>();
  return rows.flatMap((row): TokenBalance[] => {
    const isCoin = row.token === ethAddress;
    const token = tokens.get(row.token);
    if (!isCoin && (token === undefined || !types.includes(token.type))) return [];
    const market = isCoin
      ? coinMarket(wrapped === undefined ? undefined : markets.get(wrapped))
      : markets.get(row.token);
    const facts = isCoin || token === undefined ? coinFacts(source) : tokenFacts(token);
    return [
      {
        chain_id: source.chainId,
        owner_address: owner,
        token_address: row.token,
        token_type: facts.kind,
        ...(row.tokenId === null ? {} : { token_id: row.tokenId.toString() }),
        balance: row.value.toString(),
        ...(facts.name === null ? {} : { name: facts.name }),
        ...(facts.symbol === null ? {} : { symbol: facts.symbol }),
        ...(facts.decimals === null ? {} : { decimals: facts.decimals }),
        ...valued(row.value, facts, market),
      },
    ];
  });
}

interface TokenFacts extends Pick<TokenRow, 'name' | 'symbol' | 'decimals' | 'totalSupply'> {
  readonly kind: Kind;
}

function tokenFacts({ type, name, symbol, decimals, totalSupply }: TokenRow): TokenFacts {
  return { kind: KINDS[type], name, symbol, decimals, totalSupply };
}

function coinFacts({ exchange }: IndexSource): TokenFacts {
  const symbol = exchange?.native?.symbol ?? null;
  return { kind: 'native', name: null, symbol, decimals: COIN_DECIMALS, totalSupply: null };
}

/** What is wrapped is a part of the coin only. */
function coinMarket(wrapped: Market | undefined): Market | undefined {
  return wrapped === undefined ? undefined : { ...wrapped, cap: null };
}

function valued(
  value: bigint,
  { decimals, totalSupply }: TokenFacts,
  market: Market | undefined,
): Pick<TokenBalance, 'price_data'> {
  if (market === undefined || decimals === null) return {};
  const { price } = market;
  const worth = { value: price.value * value, over: price.over * 10n ** BigInt(decimals) };
  return { price_data: { ...priceData(market, { totalSupply, decimals }), usd_value: numberOf(worth) } };
}
