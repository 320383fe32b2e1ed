import type { Fields } from '#data/backends/upstream-json/fields.ts';
import { isObject } from '#lib/json.ts';
import { type Generation, named, since } from './generation.ts';

/** An address. Only the name of a proxy's implementation is known. */
export function address(generation: Generation, value: unknown): Fields | null {
  if (!isObject(value)) return null;
  const { hash, name, is_contract, is_verified, private_tags, public_tags, watchlist_names } = value;
  const own = { hash, name, is_contract, is_verified, private_tags, public_tags, watchlist_names };
  const behind = value.implementation_name ?? null;
  if (!since(generation, 'v6.9')) return { ...own, implementation_name: behind };
  const key = since(generation, 'v9.3') ? 'address_hash' : 'address';
  return {
    ...own,
    ens_domain_name: null,
    implementations: behind === null ? [] : [{ [key]: null, name: behind }],
    metadata: null,
    proxy_type: null,
    is_scam: false,
    ...named(generation, 'ok', [{ name: 'reputation', from: 'v9.3' }]),
  };
}

/** A token. Its number of holders is always a string, even where the contract has a number. */
export function token(generation: Generation, value: unknown): Fields | null {
  if (!isObject(value)) return null;
  const { name, symbol, decimals, type, exchange_rate, total_supply, holders } = value;
  return {
    name,
    symbol,
    decimals,
    type,
    exchange_rate,
    total_supply,
    icon_url: value.icon_url ?? null,
    circulating_market_cap: value.circulating_market_cap ?? null,
    ...addressName(generation, value.address),
    ...named(generation, holders === null ? null : String(holders), [
      { name: 'holders', until: 'v8' },
      { name: 'holders_count', from: 'v8' },
    ]),
    ...named(generation, null, [
      { name: 'volume_24h', from: 'v6.9' },
      { name: 'circulating_supply', from: 'v11' },
    ]),
    ...named(generation, 'ok', [{ name: 'reputation', from: 'v9.3' }]),
  };
}

/** An NFT. No generation writes the owner of a non-unique one. */
export function tokenInstance(generation: Generation, value: unknown): Fields | null {
  if (!isObject(value)) return null;
  const { is_unique, id, image_url, animation_url, external_app_url, metadata, owner } = value;
  return {
    is_unique,
    id,
    image_url: image_url ?? null,
    animation_url: animation_url ?? null,
    external_app_url: external_app_url ?? null,
    metadata: metadata ?? null,
    owner: address(generation, owner),
    token: token(generation, value.token),
    ...named(generation, null, [
      { name: 'thumbnails', from: 'v8' },
      { name: 'media_type', from: 'v8' },
      { name: 'media_url', from: 'v8' },
      { name: 'image_media_type', from: 'v12' },
      { name: 'animation_media_type', from: 'v12' },
    ]),
  };
}

/** An NFT in the list of its token. Version 12 omits the token. */
export function listedInstance(generation: Generation, record: Fields): Fields {
  const { token: contract, ...instance } = tokenInstance(generation, record) ?? {};
  return since(generation, 'v12') ? instance : { ...instance, token: contract };
}

/** The contract's hash as a field of a record. */
export function addressName(generation: Generation, value: unknown): Fields {
  return named(generation, value, [
    { name: 'address', until: 'v8' },
    { name: 'address_hash', from: 'v8' },
  ]);
}
