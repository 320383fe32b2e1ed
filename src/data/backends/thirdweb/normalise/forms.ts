import { ZERO_ADDRESS } from '#evm/address.ts';
import { type Fields, required } from '../../upstream-json/fields.ts';
import {
  addressHashOrNull,
  bigintOrNull,
  hexOrNull,
  integerOrNull,
  naturalOrNull,
  timestampOrNull,
} from '../../upstream-json/values.ts';

/*
 * Values in the forms of document 2: hex in lower case, moments in milliseconds (Decision 86). Each reader answers null
 * for what is no such value; upstream writes an empty text, or bytes of zero as text, where its database has nothing.
 */

/** What a record does not say itself. */
export interface UpstreamPlace {
  /** The chains that were asked about. */
  readonly chainIds: readonly number[];
  /** Whether decoding was asked for. */
  readonly isDecoded: boolean;
}

const HEX_QUANTITY = /^0x[0-9a-fA-F]{1,64}$/;
/** Moments from here on are in milliseconds: in seconds it would be the year 5138. */
const FIRST_MILLISECONDS = 100_000_000_000;
/** The latest moment that a Date holds. */
const LAST_MS = 8_640_000_000_000_000;

/** The chain of a record; without a word about it that of the request, if it was about one. @throws Unreadable */
export function chainIdOf(record: Fields, { chainIds }: Pick<UpstreamPlace, 'chainIds'>): number {
  const [only] = chainIds.length === 1 ? chainIds : [];
  return required(integerOrNull(record.chain_id) ?? only ?? null, 'chain_id');
}

export function addressOrNull(value: unknown): string | null {
  return addressHashOrNull(value)?.toLowerCase() ?? null;
}

/** An address that nobody has is none. */
export function partyOrNull(value: unknown): string | null {
  const address = addressOrNull(value);
  return address === ZERO_ADDRESS ? null : address;
}

export function bytesOrNull(value: unknown): string | null {
  return hexOrNull(value)?.toLowerCase() ?? null;
}

/** An integer without a sign as decimal text, also from hex. */
export function quantityOrNull(value: unknown): string | null {
  return naturalOrNull(typeof value === 'string' && HEX_QUANTITY.test(value) ? BigInt(value) : value);
}

/** An integer that a number holds exactly and that is not negative, also from hex. */
export function countOrNull(value: unknown): number | null {
  const digits = quantityOrNull(value);
  return digits === null ? null : integerOrNull(digits);
}

/** An integer of up to 64 bits without a sign. */
export function bigCountOrNull(value: unknown): bigint | null {
  const digits = quantityOrNull(value);
  return digits === null ? null : bigintOrNull(digits);
}

/** Seconds since 1970, from those, from milliseconds or from a written moment. */
export function secondsOrNull(value: unknown): number | null {
  const ms = millisecondsOrNull(value);
  return ms === null ? null : Math.floor(ms / 1000);
}

/** A moment as ISO 8601 with milliseconds, from seconds, milliseconds or another way of writing it. */
export function momentOrNull(value: unknown): string | null {
  const ms = millisecondsOrNull(value);
  return ms === null ? null : new Date(ms).toISOString();
}

function millisecondsOrNull(value: unknown): number | null {
  const count = countOrNull(value);
  const ms = count === null ? writtenMs(value) : count < FIRST_MILLISECONDS ? count * 1000 : count;
  return ms === null || Number.isNaN(ms) || ms > LAST_MS ? null : ms;
}

function writtenMs(value: unknown): number | null {
  if (typeof value !== 'string') return null;
  const written = timestampOrNull(/^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T00:00:00Z` : value);
  return written === null ? null : Date.parse(`${written.slice(0, 23)}Z`);
}

/** Text with something in it. */
export function wordsOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** A standard of NFTs; `ERC721`, `erc-721` and `erc721` are one. */
export function nftTypeOrNull(value: unknown): 'erc721' | 'erc1155' | null {
  const type = typeof value === 'string' ? value.toLowerCase().replace('-', '') : value;
  return type === 'erc721' || type === 'erc1155' ? type : null;
}

/** What can be sold or paid with. */
export function assetTypeOrNull(value: unknown): 'native' | 'erc20' | 'erc721' | 'erc1155' | null {
  const type = typeof value === 'string' ? value.toLowerCase().replace('-', '') : value;
  return type === 'native' || type === 'erc20' ? type : nftTypeOrNull(value);
}
