import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { isObject } from '#lib/json.ts';
import { type Fields, pick } from '../../upstream-json/fields.ts';
import { wordsOrNull } from './forms.ts';

type DecodedCall = InsightsSchemas['DecodedCall'];
type DecodedEvent = InsightsSchemas['DecodedEvent'];

const HEX = /^0x[0-9a-fA-F]*$/;

/** Converts a decoded call. Null when upstream could not decode it and wrote an empty name (Decision 85). */
export function decodedCallOrNull(value: unknown): DecodedCall | null {
  const decoded = namedOrNull(value);
  if (decoded === null) return null;
  const { name, signature, record } = decoded;
  return isObject(record.inputs)
    ? { name, signature, inputs: parameters(record.inputs, signature) }
    : { name, signature };
}

/**
 * Converts a decoded event of any generation. Its parameters were once called `indexedParams`. Null as above (Decision
 * 85).
 */
export function decodedEventOrNull(value: unknown): DecodedEvent | null {
  const decoded = namedOrNull(value);
  if (decoded === null) return null;
  const { name, signature, record } = decoded;
  const indexed = pick(record, 'indexed_params', 'indexedParams');
  const others = pick(record, 'non_indexed_params', 'nonIndexedParams');
  return {
    name,
    signature,
    indexed_params: isObject(indexed) ? parameters(indexed, signature) : {},
    non_indexed_params: isObject(others) ? parameters(others, signature) : {},
  };
}

function namedOrNull(value: unknown): { name: string; signature: string; record: Fields } | null {
  if (!isObject(value)) return null;
  const [name, signature] = [wordsOrNull(value.name), wordsOrNull(value.signature)];
  return name === null || signature === null ? null : { name, signature, record: value };
}

/**
 * Converts parameters at every depth. Integers, which upstream leaves as numbers within tuples, become decimal text.
 * Hex becomes lower case, unless it may be the content of a string.
 */
function parameters(values: Fields, signature: string): Record<string, unknown> {
  const isText = /\bstring\b/.test(signature);
  const read = (value: unknown): unknown => {
    if (typeof value === 'number' || typeof value === 'bigint') return String(value);
    if (typeof value === 'string') return !isText && HEX.test(value) ? value.toLowerCase() : value;
    if (Array.isArray(value)) return value.map(read);
    return isObject(value) ? inner(value) : value;
  };
  const inner = (fields: Fields) =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, read(value)]));
  return inner(values);
}
