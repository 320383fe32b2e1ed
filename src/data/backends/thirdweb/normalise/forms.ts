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
 * Readers of values in the forms of document 2: hex in lower case, timestamps in milliseconds (Decision 86). Each
 * reader returns null for a value it cannot convert. Upstream writes an empty text, or zero bytes as text, for missing
 * values.
 */

/** Facts of the request that a record does not repeat. */
export interface RecordContext {
  /** Requested chains. */
  readonly chainIds: readonly number[];
  /** True when decoding was requested. */
  readonly isDecoded: boolean;
}

const HEX_QUANTITY = /^0x[0-9a-fA-F]{1,64}$/;
/** Smallest number read as milliseconds. In seconds it would be the year 5138. */
const FIRST_MILLISECONDS = 100_000_000_000;
/** Latest time that a Date can hold. */
const LAST_MS = 8_640_000_000_000_000;

/** Chain of a record. Without one in the record, the request's only chain. @throws UnreadableRecord */
export function chainIdOf(record: Fields, { chainIds }: Pick<RecordContext, 'chainIds'>): number {
  const [only] = chainIds.length === 1 ? chainIds : [];
  return required(integerOrNull(record.chain_id) ?? only ?? null, 'chain_id');
}

export function addressOrNull(value: unknown): string | null {
  return addressHashOrNull(value)?.toLowerCase() ?? null;
}

/** Reads an address; null for the zero address. */
export function partyOrNull(value: unknown): string | null {
  const address = addressOrNull(value);
  return address === ZERO_ADDRESS ? null : address;
}

export function bytesOrNull(value: unknown): string | null {
  return hexOrNull(value)?.toLowerCase() ?? null;
}

/** Reads an unsigned integer, decimal or hex, as decimal text. */
export function quantityOrNull(value: unknown): string | null {
  return naturalOrNull(typeof value === 'string' && HEX_QUANTITY.test(value) ? BigInt(value) : value);
}

/** Reads a non-negative integer, decimal or hex, that a number holds exactly. */
export function hexCountOrNull(value: unknown): number | null {
  const digits = quantityOrNull(value);
  return digits === null ? null : integerOrNull(digits);
}

/** Reads an unsigned integer as a bigint. */
export function bigCountOrNull(value: unknown): bigint | null {
  const digits = quantityOrNull(value);
  return digits === null ? null : bigintOrNull(digits);
}

/** Reads a time as seconds since 1970, from seconds, milliseconds or a written timestamp. */
export function secondsOrNull(value: unknown): number | null {
  const ms = millisecondsOrNull(value);
  return ms === null ? null : Math.floor(ms / 1000);
}

/** Reads a time as ISO 8601 with milliseconds, from seconds, milliseconds or a written timestamp. */
export function momentOrNull(value: unknown): string | null {
  const ms = millisecondsOrNull(value);
  return ms === null ? null : new Date(ms).toISOString();
}

function millisecondsOrNull(value: unknown): number | null {
  const count = hexCountOrNull(value);
  const ms = count === null ? writtenMs(value) : count < FIRST_MILLISECONDS ? count * 1000 : count;
  return ms === null || Number.isNaN(ms) || ms > LAST_MS ? null : ms;
}

function writtenMs(value: unknown): number | null {
  if (typeof value !== 'string') return null;
  const written = timestampOrNull(/^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T00:00:00Z` : value);
  return written === null ? null : Date.parse(`${written.slice(0, 23)}Z`);
}

/** Reads text that is not empty. */
export function wordsOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Reads an NFT standard. `ERC721`, `erc-721` and `erc721` are equal. */
export function nftTypeOrNull(value: unknown): 'erc721' | 'erc1155' | null {
  const type = typeof value === 'string' ? value.toLowerCase().replace('-', '') : value;
  return type === 'erc721' || type === 'erc1155' ? type : null;
}

/** Reads the type of an asset in a sale. */
export function assetTypeOrNull(value: unknown): 'native' | 'erc20' | 'erc721' | 'erc1155' | null {
  const type = typeof value === 'string' ? value.toLowerCase().replace('-', '') : value;
  return type === 'native' || type === 'erc20' ? type : nftTypeOrNull(value);
}
