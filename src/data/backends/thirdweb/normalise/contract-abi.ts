import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { isObject } from '#lib/json.ts';
import { listOf, Unreadable } from '../../upstream-json/fields.ts';
import { parseJson } from '../../upstream-json/lossless-json.ts';

type ContractAbi = InsightsSchemas['ContractAbi'];

/**
 * The entries of an ABI: a list, in practice, though the contract says object; some services wrap it, or send its JSON
 * text. @throws Unreadable for anything else.
 */
export function contractAbi(body: unknown): ContractAbi {
  const entries = entriesOf(body);
  if (!entries.every(isObject)) throw new Unreadable('abi', 'has an entry that is not an object');
  return entries.map(entry => ({ ...entry }));
}

function entriesOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return listOf(value);
  if (typeof value === 'string') return entriesOf(parsed(value));
  if (isObject(value) && (value.abi ?? value.data) !== undefined) return entriesOf(value.abi ?? value.data);
  throw new Unreadable('abi', 'is not a list');
}

function parsed(text: string): unknown {
  try {
    // A text within this one is not an ABI: it would be read without end.
    const value = parseJson(text);
    return typeof value === 'string' ? null : value;
  } catch (cause) {
    throw new Unreadable('abi', 'is not JSON', { cause });
  }
}
