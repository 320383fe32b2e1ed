import { type Fields, fieldsOf, listOf } from '#data/backends/upstream-json/fields.ts';
import { isObject } from '#lib/json.ts';

/** A decoded call or log. Upstream writes lists and tuples as arrays, and booleans as JSON booleans. */
export function decoded(value: unknown): Fields | null {
  if (!isObject(value)) return null;
  return {
    ...value,
    parameters: listOf(value.parameters).map(item => {
      const parameter = fieldsOf(item);
      return { ...parameter, value: decodedValue(parameter.type, parameter.value) };
    }),
  };
}

/** Converts the contract's text of a value to upstream's value. */
export function decodedValue(type: unknown, value: unknown): unknown {
  if (typeof type !== 'string' || typeof value !== 'string') return value;
  if (type.endsWith(']') || type.startsWith('(') || type.startsWith('tuple')) return JSON.parse(value);
  return type === 'bool' ? value === 'true' : value;
}
