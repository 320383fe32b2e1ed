import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { isObject } from '#lib/json.ts';
import { fieldsOf, given, pick, required } from '../../upstream-json/fields.ts';
import { numberOrNull } from '../../upstream-json/values.ts';
import {
  addressOrNull,
  chainIdOf,
  countOrNull,
  momentOrNull,
  type UpstreamPlace,
  wordsOrNull,
} from './forms.ts';

type FoundToken = InsightsSchemas['FoundToken'];

/** A token found by its symbol. @throws Unreadable without its chain and address. */
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

/** Numbers are null upstream where they are not known; an object of nothing else is none. */
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
