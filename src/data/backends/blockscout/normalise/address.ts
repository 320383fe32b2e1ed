import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { isObject } from '#lib/json.ts';
import {
  at,
  type Fields,
  fieldsOf,
  listOf,
  optionalField,
  pick,
  required,
} from '../../upstream-json/fields.ts';
import { addressHashOrNull, booleanOrNull, integerOrNull, textOrNull } from '../../upstream-json/values.ts';

type Address = ExplorerSchemas['Address'];

/**
 * Converts an address of any generation. Up to 6.7 the implementation's name was a field of its own; since then it is
 * the name of the first implementation. Lists of tags may be missing (withdrawals of 6.x).
 * @throws UnreadableRecord without a hash.
 */
export function address(value: unknown): Address {
  const record = fieldsOf(value);
  return {
    hash: required(addressHashOrNull(record.hash), 'hash'),
    implementation_name: textOrNull(record.implementation_name) ?? implementationName(record),
    name: textOrNull(record.name),
    ...optionalField('ens_domain_name', textOrNull(record.ens_domain_name)),
    ...optionalField('metadata', leadingTag(record.metadata)),
    is_contract: booleanOrNull(record.is_contract) ?? false,
    ...reputationIn(record),
    private_tags: listOf(record.private_tags).flatMap(addressTag),
    watchlist_names: listOf(record.watchlist_names).flatMap(watchlistName),
    public_tags: listOf(record.public_tags).flatMap(addressTag),
    is_verified: booleanOrNull(record.is_verified),
  };
}

/** Mark of a scam, absent for all others (Decision 420). It is `reputation` since 9.1 and `is_scam` since 6.9. */
export function reputationIn({ reputation, is_scam }: Fields): { reputation?: 'scam' } {
  return reputation === 'scam' || is_scam === true ? { reputation: 'scam' } : {};
}

/** Converts an optional address, such as the receiver of a contract creation. @throws UnreadableRecord */
function addressOrNull(value: unknown): Address | null {
  return value === null || value === undefined ? null : address(value);
}

/** Reads the address in a field of a record. @throws UnreadableRecord with the name of the field. */
export function addressIn(record: Fields, name: string): Address {
  return at(name, record[name], address);
}

/** Like `addressIn`, for a field that may be null. */
export function addressOrNullIn(record: Fields, name: string): Address | null {
  return at(name, record[name], addressOrNull);
}

function implementationName(record: Fields): string | null {
  const [first] = listOf(record.implementations);
  return isObject(first) ? textOrNull(first.name) : null;
}

/** Tag with the highest ordinal; the first of equals (Decision 27). */
function leadingTag(metadata: unknown): NonNullable<Address['metadata']> | null {
  if (!isObject(metadata)) return null;
  const tags = (Array.isArray(metadata.tags) ? metadata.tags : [metadata]).filter(isObject);
  let leading: NonNullable<Address['metadata']> | null = null;
  for (const tag of tags) {
    const [slug, name, tagType] = [textOrNull(tag.slug), textOrNull(tag.name), textOrNull(tag.tagType)];
    if (slug === null || name === null || tagType === null) continue;
    const ordinal = integerOrNull(tag.ordinal) ?? 0;
    if (leading !== null && leading.ordinal >= ordinal) continue;
    leading = { slug, name, tagType, ordinal, meta: isObject(tag.meta) ? { ...tag.meta } : {} };
  }
  return leading;
}

/** Converts a tag. One without an address is left out, so that the address survives (Decision 68). */
function addressTag(value: unknown): Address['public_tags'] {
  const tag = isObject(value) ? value : {};
  const hash = addressHashOrNull(pick(tag, 'address_hash', 'address'));
  if (hash === null) return [];
  const label = textOrNull(tag.label) ?? '';
  return [{ address_hash: hash, display_name: textOrNull(tag.display_name) ?? label, label }];
}

function watchlistName(value: unknown): Address['watchlist_names'] {
  if (!isObject(value)) return [];
  return [{ display_name: textOrNull(value.display_name) ?? '', label: textOrNull(value.label) ?? '' }];
}
