import { type Fields, fieldsOf, listOf } from '#data/backends/upstream-json/fields.ts';
import { isObject } from '#lib/json.ts';

/** A decoded call or log: upstream writes lists and tuples as such, and truth values as JSON has them. */
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

/** The value behind the text that the contract has of it. */
export function decodedValue(type: unknown, value: unknown): unknown {
  if (typeof type !== 'string' || typeof value !== 'string') return value;
  if (type.endsWith(']') || type.startsWith('(') || type.startsWith('tuple')) return JSON.parse(value);
  return type === 'bool' ? value === 'true' : value;
}
