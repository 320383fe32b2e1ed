import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { isObject } from '#lib/json.ts';
import { type Fields, given, listOf } from '../../upstream-json/fields.ts';
import { integerOrNull } from '../../upstream-json/values.ts';
import { addressOrNull, nftTypeOrNull, wordsOrNull } from './forms.ts';

type NftMetadata = InsightsSchemas['NftMetadata'];

/** What a link may begin with: upstream hands on whatever the publisher wrote. */
const LINK = /^(?:https?|ipfs|ar|data):/i;

/** What a token says of itself; what is empty, unknown to the contract or of another kind is left out. */
export function nftMetadataOrNull(value: unknown): NftMetadata | null {
  if (!isObject(value)) return null;
  return {
    ...given('name', wordsOrNull(value.name)),
    ...given('description', wordsOrNull(value.description)),
    ...given('image_url', linkOrNull(value.image_url)),
    ...given('video_url', linkOrNull(value.video_url)),
    ...given('animation_url', linkOrNull(value.animation_url)),
    ...given('background_color', wordsOrNull(value.background_color)),
    ...given('external_url', linkOrNull(value.external_url)),
    ...given('status', wordsOrNull(value.status)),
    ...given('metadata_url', linkOrNull(value.metadata_url)),
    ...given('owner_addresses', ownersOrNull(value.owner_addresses)),
    ...given('extra_metadata', extraOrNull(value.extra_metadata)),
    ...given('collection', collectionOrNull(value.collection)),
    ...given('contract', contractOrNull(value.contract)),
  };
}

function ownersOrNull(value: unknown): string[] | null {
  if (!Array.isArray(value)) return null;
  return listOf(value)
    .map(addressOrNull)
    .filter(owner => owner !== null);
}

/** Attributes are what publishers make of them: a list keeps its objects, and what is no list or object is dropped. */
function extraOrNull(value: unknown): NonNullable<NftMetadata['extra_metadata']> | null {
  if (!isObject(value)) return null;
  const { attributes, properties } = value;
  const listed = Array.isArray(attributes) ? listOf(attributes).filter(isObject).map(copyOf) : null;
  const kept = {
    ...given('attributes', listed ?? (isObject(attributes) ? copyOf(attributes) : null)),
    ...given('properties', isObject(properties) ? copyOf(properties) : null),
  };
  return Object.keys(kept).length === 0 ? null : kept;
}

function collectionOrNull(value: unknown): NonNullable<NftMetadata['collection']> | null {
  if (!isObject(value)) return null;
  const kept = {
    ...given('name', wordsOrNull(value.name)),
    ...given('description', wordsOrNull(value.description)),
    ...given('image_url', linkOrNull(value.image_url)),
    ...given('banner_image_url', linkOrNull(value.banner_image_url)),
    ...given('featured_image_url', linkOrNull(value.featured_image_url)),
    ...given('external_link', linkOrNull(value.external_link)),
  };
  return Object.keys(kept).length === 0 ? null : kept;
}

function contractOrNull(value: unknown): NonNullable<NftMetadata['contract']> | null {
  if (!isObject(value)) return null;
  const [chainId, address] = [integerOrNull(value.chain_id), addressOrNull(value.address)];
  if (chainId === null || address === null) return null;
  return {
    chain_id: chainId,
    address,
    ...given('name', wordsOrNull(value.name)),
    ...given('symbol', wordsOrNull(value.symbol)),
    ...given('type', nftTypeOrNull(value.type)),
  };
}

function linkOrNull(value: unknown): string | null {
  return typeof value === 'string' && LINK.test(value) ? value : null;
}

function copyOf(fields: Fields): Record<string, unknown> {
  return { ...fields };
}
