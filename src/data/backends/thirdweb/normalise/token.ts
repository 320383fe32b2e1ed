import { ethAddress } from 'viem';
import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { ZERO_ADDRESS } from '#evm/address.ts';
import { isObject } from '#lib/json.ts';
import { each, fieldsOf, given, pick, required } from '../../upstream-json/fields.ts';
import { dayOrNull, numberOrNull } from '../../upstream-json/values.ts';
import {
  addressOrNull,
  assetTypeOrNull,
  chainIdOf,
  countOrNull,
  momentOrNull,
  quantityOrNull,
  type UpstreamPlace,
  wordsOrNull,
} from './forms.ts';

type FoundToken = InsightsSchemas['FoundToken'];

/** Converts a token found by its symbol. @throws Unreadable without its chain and address. */
export function foundToken(value: unknown, place: Pick<UpstreamPlace, 'chainIds'>): FoundToken {
  const record = fieldsOf(value);
  return {
    chain_id: chainIdOf(record, place),
    token_address: required(addressOrNull(pick(record, 'token_address', 'address')), 'token_address'),
    ...given('name', wordsOrNull(record.name)),
    ...given('symbol', wordsOrNull(record.symbol)),
    ...given('decimals', countOrNull(record.decimals)),
    ...given('price_data', priceDataOrNull(record.price_data)),
  };
}

type TokenBalance = InsightsSchemas['TokenBalance'];

/** Converts a balance, which does not name its owner. @throws Unreadable without chain, token and amount. */
export function tokenBalance(value: unknown, place: Pick<UpstreamPlace, 'chainIds'>): TokenBalance {
  const record = fieldsOf(value);
  const { chain_id, token_address: address, ...described } = foundToken(value, place);
  const isCoin = address === ZERO_ADDRESS || address === ethAddress;
  const { price_data: price, ...facts } = described;
  return {
    chain_id,
    token_address: isCoin ? ethAddress : address,
    token_type: isCoin ? 'native' : (assetTypeOrNull(record.token_type) ?? 'erc20'),
    ...given('token_id', quantityOrNull(record.token_id)),
    balance: required(quantityOrNull(record.balance), 'balance'),
    ...facts,
    ...given('price_data', price ?? null),
  };
}

/** Converts price data. Upstream writes null for unknown numbers. Null when all are unknown. */
function priceDataOrNull(value: unknown): NonNullable<FoundToken['price_data']> | null {
  if (!isObject(value)) return null;
  const kept = {
    ...given('price_usd', numberOrNull(value.price_usd)),
    ...given('usd_value', numberOrNull(value.usd_value)),
    ...given('volume_24h_usd', numberOrNull(value.volume_24h_usd)),
    ...given('market_cap_usd', numberOrNull(value.market_cap_usd)),
    ...given('circulating_supply', numberOrNull(value.circulating_supply)),
    ...given('total_supply', numberOrNull(value.total_supply)),
    ...given('percent_change_24h', numberOrNull(value.percent_change_24h)),
    ...given('price_timestamp', momentOrNull(value.price_timestamp)),
  };
  return Object.keys(kept).length === 0 ? null : kept;
}

type TokenPrice = InsightsSchemas['TokenPrice'];
type HistoricalPrice = InsightsSchemas['HistoricalPrice'];

/**
 * Converts the price of a token. Null without a price, because our answers omit such tokens (Decision 89).
 * @throws Unreadable without chain and address.
 */
export function tokenPriceOrNull(value: unknown, place: Pick<UpstreamPlace, 'chainIds'>): TokenPrice | null {
  const record = fieldsOf(value);
  const identity = {
    chain_id: chainIdOf(record, place),
    address: required(addressOrNull(pick(record, 'address', 'token_address')), 'address'),
  };
  const price = numberOrNull(record.price_usd);
  if (price === null) return null;
  const history = record.historical_prices;
  return {
    ...identity,
    ...given('symbol', wordsOrNull(record.symbol)),
    price_usd: price,
    price_usd_cents: numberOrNull(record.price_usd_cents) ?? price * 100,
    percent_change_24h: numberOrNull(record.percent_change_24h),
    volume_24h_usd: numberOrNull(record.volume_24h_usd),
    volume_change_24h: numberOrNull(record.volume_change_24h),
    market_cap_usd: numberOrNull(record.market_cap_usd),
    ...given('historical_prices', Array.isArray(history) ? each(history, historicalPrice).sort(byDay) : null),
    ...given('holders', countOrNull(record.holders)),
  };
}

function historicalPrice(value: unknown): HistoricalPrice {
  const record = fieldsOf(value);
  const price = required(numberOrNull(record.price_usd), 'price_usd');
  const day = dayOrNull(record.date) ?? momentOrNull(record.date)?.slice(0, '2024-05-12'.length) ?? null;
  return {
    date: required(day, 'date'),
    price_usd: price,
    price_usd_cents: numberOrNull(record.price_usd_cents) ?? price * 100,
  };
}

function byDay(a: HistoricalPrice, b: HistoricalPrice): number {
  return a.date < b.date ? -1 : Number(a.date > b.date);
}
