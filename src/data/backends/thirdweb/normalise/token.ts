import { ethAddress } from 'viem';
import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { ZERO_ADDRESS } from '#evm/address.ts';
import { isObject } from '#lib/json.ts';
import { each, fieldsOf, optionalField, pick, required } from '../../upstream-json/fields.ts';
import { dayOrNull, numberOrNull } from '../../upstream-json/values.ts';
import {
  addressOrNull,
  assetTypeOrNull,
  chainIdOf,
  hexCountOrNull,
  momentOrNull,
  quantityOrNull,
  type RecordContext,
  wordsOrNull,
} from './forms.ts';

type FoundToken = InsightsSchemas['FoundToken'];

/** Converts a token found by its symbol. @throws UnreadableRecord without its chain and address. */
export function foundToken(value: unknown, context: Pick<RecordContext, 'chainIds'>): FoundToken {
  const record = fieldsOf(value);
  return {
    chain_id: chainIdOf(record, context),
    token_address: required(addressOrNull(pick(record, 'token_address', 'address')), 'token_address'),
    ...optionalField('name', wordsOrNull(record.name)),
    ...optionalField('symbol', wordsOrNull(record.symbol)),
    ...optionalField('decimals', hexCountOrNull(record.decimals)),
    ...optionalField('price_data', priceDataOrNull(record.price_data)),
  };
}

type TokenBalance = InsightsSchemas['TokenBalance'];

/** Converts a balance, which does not name its owner. @throws UnreadableRecord without chain, token and amount. */
export function tokenBalance(value: unknown, context: Pick<RecordContext, 'chainIds'>): TokenBalance {
  const record = fieldsOf(value);
  const { chain_id, token_address: address, ...described } = foundToken(value, context);
  const isCoin = address === ZERO_ADDRESS || address === ethAddress;
  const { price_data: price, ...facts } = described;
  return {
    chain_id,
    token_address: isCoin ? ethAddress : address,
    token_type: isCoin ? 'native' : (assetTypeOrNull(record.token_type) ?? 'erc20'),
    ...optionalField('token_id', quantityOrNull(record.token_id)),
    balance: required(quantityOrNull(record.balance), 'balance'),
    ...facts,
    ...optionalField('price_data', price ?? null),
  };
}

/** Converts price data. Upstream writes null for unknown numbers. Null when all are unknown. */
function priceDataOrNull(value: unknown): NonNullable<FoundToken['price_data']> | null {
  if (!isObject(value)) return null;
  const kept = {
    ...optionalField('price_usd', numberOrNull(value.price_usd)),
    ...optionalField('usd_value', numberOrNull(value.usd_value)),
    ...optionalField('volume_24h_usd', numberOrNull(value.volume_24h_usd)),
    ...optionalField('market_cap_usd', numberOrNull(value.market_cap_usd)),
    ...optionalField('circulating_supply', numberOrNull(value.circulating_supply)),
    ...optionalField('total_supply', numberOrNull(value.total_supply)),
    ...optionalField('percent_change_24h', numberOrNull(value.percent_change_24h)),
    ...optionalField('price_timestamp', momentOrNull(value.price_timestamp)),
  };
  return Object.keys(kept).length === 0 ? null : kept;
}

type TokenPrice = InsightsSchemas['TokenPrice'];
type HistoricalPrice = InsightsSchemas['HistoricalPrice'];

/**
 * Converts the price of a token. Null without a price, because our answers omit such tokens (Decision 89).
 * @throws UnreadableRecord without chain and address.
 */
export function tokenPriceOrNull(
  value: unknown,
  context: Pick<RecordContext, 'chainIds'>,
): TokenPrice | null {
  const record = fieldsOf(value);
  const identity = {
    chain_id: chainIdOf(record, context),
    address: required(addressOrNull(pick(record, 'address', 'token_address')), 'address'),
  };
  const price = numberOrNull(record.price_usd);
  if (price === null) return null;
  const history = record.historical_prices;
  return {
    ...identity,
    ...optionalField('symbol', wordsOrNull(record.symbol)),
    price_usd: price,
    price_usd_cents: numberOrNull(record.price_usd_cents) ?? price * 100,
    percent_change_24h: numberOrNull(record.percent_change_24h),
    volume_24h_usd: numberOrNull(record.volume_24h_usd),
    volume_change_24h: numberOrNull(record.volume_change_24h),
    market_cap_usd: numberOrNull(record.market_cap_usd),
    ...optionalField(
      'historical_prices',
      Array.isArray(history) ? each(history, historicalPrice).sort(byDay) : null,
    ),
    ...optionalField('holders', hexCountOrNull(record.holders)),
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
