import { type Address, ethAddress } from 'viem';
import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { NFT_TYPES } from '#evm/token-id.ts';
import type { OwnerBalanceRow } from '#indexer/read/tokens/owner-balances.ts';
import type { TokenRow } from '#indexer/read/tokens/tokens.ts';
import { yieldTurn } from '#lib/clock.ts';
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
/** Decimals of the native coin, equal on every EVM chain. */
const COIN_DECIMALS = 18;
/** Maximum number of balances of an owner that are sorted for an answer (Decision 217). */
const MAX_SORTED = 2_000;
/** Maximum number of tokens priced for an answer, over all owners (Decision 217). */
const MAX_PRICED = 2_000;

/** Selection of balances that applies to every owner of a request. */
interface Selection {
  readonly query: Query;
  readonly types: readonly TokenType[];
  /** Contracts; undefined for all. */
  readonly tokens: readonly Address[] | undefined;
  readonly withCoin: boolean;
}
/** Selection of balances of one owner. */
type OwnerSelection = Selection & { readonly owner: Address };

/** Balances of owners, with prices on chains with a market (Decisions 215 to 217). */
export function balanceAnswers(source: IndexSource) {
  return {
    async listTokenBalances({ query }, { signal }) {
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
      return query.limit === 0 ? [] : listed(source, selection, { owners, signal });
    },
  } satisfies InsightsAnswers;
}

/** Returns a page per owner. Only the pages are priced, unless prices decide their content. */
async function listed(
  source: IndexSource,
  selection: Selection,
  { owners, signal }: { owners: readonly Address[]; signal: AbortSignal },
): Promise<TokenBalance[]> {
  const { query } = selection;
  const { limit, page, metadata } = query;
  const isCut = isPageByAddress(selection);
  const known = new Map<string, TokenRow>();
  const held: TokenBalance[][] = [];
  for (const owner of owners) {
    const ofOwner = { ...selection, owner };
    const rows = isCut ? await pageByAddress(source, ofOwner) : await heldRows(source, ofOwner);
    await learn(
      source,
      known,
      rows.map(({ token }) => token),
    );
    held.push(described(source, { rows, known, selection: ofOwner }));
    await yieldTurn(signal);
  }
  const pageOf = (balances: readonly TokenBalance[]) =>
    isCut ? [...balances] : inBalanceOrder(balances, query).slice(page * limit, (page + 1) * limit);
  if (!isPricedOnly(query) && !isOrderedByPrice(query)) {
    const shown = held.flatMap(pageOf);
    return metadata === 'true' ? priced(source, shown, { known, signal }) : shown;
  }
  const all = await priced(source, held.flat(), { known, signal });
  const kept = isPricedOnly(query) ? all.filter(({ price_data: price }) => price !== undefined) : all;
  const byOwner = Map.groupBy(kept, ({ owner_address: owner }) => owner);
  return owners.flatMap(owner => pageOf(byOwner.get(owner) ?? []));
}

/** True for a list that the index can read page by page. */
function isPageByAddress({ query, tokens, types }: Selection): boolean {
  const isOfAll = tokens === undefined && types.length === TOKEN_TYPES.length && !isPricedOnly(query);
  return query.sort_by === 'token_address' && isOfAll;
}

function isPricedOnly({ metadata, include_without_price: others }: Query): boolean {
  return metadata === 'true' && others === 'false';
}

/** Reads one page by token address. The coin sorts among the tokens, so reading starts one row early. */
async function pageByAddress(source: IndexSource, selection: OwnerSelection): Promise<OwnerBalanceRow[]> {
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
  const index = others.findIndex(isBehindCoin);
  return others.toSpliced(index < 0 ? others.length : index, 0, coin).slice(0, limit);
}

/** Reads all selected balances. @throws BackendError `rejected` when there are too many to sort. */
async function heldRows(source: IndexSource, selection: OwnerSelection): Promise<OwnerBalanceRow[]> {
  const { owner: holder, tokens, types } = selection;
  const { reader } = source;
  const limit = MAX_SORTED + 1;
  const [coin, rows] = await Promise.all([
    coinOf(source, selection),
    tokens === undefined
      ? types.length === 0
        ? []
        : reader.tokenHoldings({ holder, types: typesHolding(types), limit }).then(({ items }) => items)
      : reader.balancesOfTokens({ holder, tokens, limit }),
  ]);
  if (rows.length > MAX_SORTED) throw tooMany();
  return coin === undefined ? rows : [...rows, coin];
}

/** Types to read for the selected types. The index stores a balance under the first type of its token. */
function typesHolding(types: readonly TokenType[]): readonly TokenType[] {
  return types.includes('ERC-1155') ? [...types, 'ERC-721'] : types;
}

function tooMany(): BackendError {
  const message = `sort_by: an owner has more than ${MAX_SORTED} of these balances: name tokens with token_address`;
  return new BackendError('rejected', 'bad_input', message);
}

async function coinOf(
  source: IndexSource,
  { owner, withCoin }: OwnerSelection,
): Promise<OwnerBalanceRow | undefined> {
  const value = withCoin ? await source.reader.coinBalance(owner) : 0n;
  return value === 0n ? undefined : { token: ethAddress, tokenId: null, value };
}

/** Reads the tokens that are not known yet. */
async function learn(
  { reader }: IndexSource,
  known: Map<string, TokenRow>,
  addresses: readonly Address[],
): Promise<void> {
  const unknown = addresses.filter(address => !known.has(address));
  for (const token of await reader.tokens([...new Set(unknown)])) known.set(token.address, token);
}

interface DescribedRows {
  readonly rows: readonly OwnerBalanceRow[];
  readonly known: ReadonlyMap<string, TokenRow>;
  readonly selection: OwnerSelection;
}

/** Records of balances without prices, limited to the selected types. */
function described(source: IndexSource, { rows, known, selection }: DescribedRows): TokenBalance[] {
  const { owner, types } = selection;
  return rows.flatMap((row): TokenBalance[] => {
    const token = known.get(row.token);
    const type = token && typeOf(row, token);
    if (row.token !== ethAddress && (type === undefined || !types.includes(type))) return [];
    const facts = factsOf(source, token);
    return [
      {
        chain_id: source.chainId,
        owner_address: owner,
        token_address: row.token,
        token_type: type === undefined ? 'native' : KINDS[type],
        ...(row.tokenId === null ? {} : { token_id: row.tokenId.toString() }),
        balance: row.value.toString(),
        ...(facts.name === null ? {} : { name: facts.name }),
        ...(facts.symbol === null ? {} : { symbol: facts.symbol }),
        ...(facts.decimals === null ? {} : { decimals: facts.decimals }),
      },
    ];
  });
}

/** Standard of a balance. A contract may have both kinds of NFTs; only ERC-1155 has balances of single ids. */
function typeOf({ tokenId }: OwnerBalanceRow, { type }: TokenRow): TokenType {
  if (tokenId !== null) return 'ERC-1155';
  return type === 'ERC-1155' ? 'ERC-721' : type;
}

/** Adds prices to records whose tokens have one. The coin has the price of its wrapping token. */
async function priced(
  source: IndexSource,
  balances: readonly TokenBalance[],
  { known, signal }: { known: Map<string, TokenRow>; signal: AbortSignal },
): Promise<TokenBalance[]> {
  const wrapped = source.exchange?.native?.wrapped;
  if (wrapped !== undefined) await learn(source, known, [wrapped]);
  const wanted = new Set(balances.map(({ token_address: one }) => (one === ethAddress ? wrapped : one)));
  const fungible = [...known.values()].filter(
    ({ address, type }) => type === 'ERC-20' && wanted.has(address),
  );
  const markets = await marketsOf(source, fungible, { most: MAX_PRICED, signal });
  return balances.map(balance => {
    const { token_address: address, token_id: id, balance: value } = balance;
    if (id !== undefined) return balance;
    const market =
      address === ethAddress ? coinMarket(markets.get(wrapped ?? address)) : markets.get(address);
    return { ...balance, ...valued(BigInt(value), factsOf(source, known.get(address)), market) };
  });
}

/** Facts of a token or of the native coin. */
function factsOf({ exchange }: IndexSource, token: TokenRow | undefined): TokenFacts {
  if (token !== undefined) {
    const { name, symbol, decimals, totalSupply } = token;
    return { name, symbol, decimals, totalSupply };
  }
  const symbol = exchange?.native?.symbol ?? null;
  return { name: null, symbol, decimals: COIN_DECIMALS, totalSupply: null };
}

type TokenFacts = Pick<TokenRow, 'name' | 'symbol' | 'decimals' | 'totalSupply'>;

/** Market of the coin. The cap is unknown, because only part of the supply is wrapped. */
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
