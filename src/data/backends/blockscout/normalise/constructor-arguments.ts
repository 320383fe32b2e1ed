import { isObject } from '#lib/json.ts';
import { listOf } from '../../upstream-json/fields.ts';
import { decodedTextOrNull } from './decoded-text.ts';

/**
 * The pairs of a constructor's decoded arguments, each value as text (null where upstream could not read it) and what
 * the ABI says of it. Null where nothing was decoded. Decision 19.
 */
export function decodedArgumentsOrNull(value: unknown): unknown[][] | null {
  if (!Array.isArray(value)) return null;
  return value.map((pair: unknown) => {
    const [argument, description] = listOf(pair);
    return [decodedTextOrNull(argument), isObject(description) ? { ...description } : {}];
  });
}
