import { child, type Json, type JsonObject, list, resolve } from '../../src/contract/contracts/document.ts';
import { bigIntegerBits, mayHoldComma } from '../generate/operations.ts';

/** Hostile texts, already escaped for a URL. */
export const HOSTILE: readonly string[] = [
  '%00',
  '%zz',
  '..%2f..%2fetc%2fpasswd',
  '%D9%A1%D9%A2%D9%A3',
  '%27%20OR%201%3D1%20--',
  '%F0%9F%92%A5',
  '0x',
  '1e3',
  '-1',
  '99999999999999999999999999999999999999999999999999999999999999999999999999999999',
  ',,,',
  'a'.repeat(5_000),
];

/** Schema of one value of a parameter: of its items for a list. */
export function valueSchema(document: JsonObject, parameter: JsonObject): JsonObject {
  const schema = resolve(document, parameter.schema);
  return schema.type === 'array' ? resolve(document, schema.items) : schema;
}

/** Examples of a parameter: its own, or those of its schema, including next to a reference. */
export function shownValues(document: JsonObject, parameter: JsonObject): Json[] {
  if (parameter.example !== undefined) return [parameter.example];
  const own = list(child(parameter, 'schema'), 'examples');
  return own.length > 0 ? own : list(resolve(document, parameter.schema), 'examples');
}

/** Valid values of a parameter, from its enum, examples and bounds. */
export function goodValues(document: JsonObject, parameter: JsonObject): string[] {
  const schema = valueSchema(document, parameter);
  const values = list(schema, 'enum').filter(value => value !== null);
  const examples = [...shownValues(document, parameter).flat(), ...list(schema, 'examples')];
  const bounds = [schema.minimum, schema.default];
  const exponents = isLarge(schema) ? ['1e3', '1e+21', '1.5E 21'] : [];
  return [
    ...new Set(
      [...values, ...examples, ...bounds, ...exponents].flatMap(value =>
        isScalar(value) ? [String(value)] : [],
      ),
    ),
  ];
}

/** Invalid values of a parameter, escaped for a URL. */
export function badValues(document: JsonObject, parameter: JsonObject): string[] {
  const schema = valueSchema(document, parameter);
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  // An empty value of a nullable parameter counts as absent.
  const empty = types.includes('null') ? [] : [''];
  if (types.includes('integer')) {
    const exponents = isLarge(schema) ? ['1.5e0', '1e-3', '1e78', '1e999999999'] : ['1e3'];
    return [...exponents, '0x10', '1.5', 'one', ...empty, '%20', ...beyondBounds(schema)];
  }
  if (types.includes('boolean')) return ['1', 'True', 'yes', ...empty, '%20'];
  if (Array.isArray(schema.enum)) return ['nonsense', '', ',', '%20'];
  const tooLong = typeof schema.maxLength === 'number' ? ['a'.repeat(schema.maxLength + 1)] : [];
  if (typeof schema.pattern === 'string') {
    const pattern = new RegExp(schema.pattern, 'u');
    const refused = ['%20', '0xzz', '!', 'a b', '٣'].filter(
      value => !pattern.test(decodeURIComponent(value)),
    );
    return [...refused.map(encodeURI), ...tooLong];
  }
  return schema.minLength === 1 ? [...empty, ...tooLong] : tooLong;
}

/** Maximum number of values of a parameter; 1 unless it is a list. */
export function mostValues(document: JsonObject, parameter: JsonObject): number {
  const schema = resolve(document, parameter.schema);
  return schema.type === 'array' ? Number(schema.maxItems ?? Number.POSITIVE_INFINITY) : 1;
}

/** Query strings of a list: repeated, and with commas unless items may contain them (Decision 183). */
export function listQueries(
  document: JsonObject,
  parameter: JsonObject,
  values: readonly string[],
): readonly string[] {
  const texts = values.map(encodeURIComponent);
  const repeated = texts.map(text => `${parameter.name}=${text}`).join('&');
  if (mayHoldComma(valueSchema(document, parameter))) return [repeated];
  return [repeated, `${parameter.name}=${texts.join()}`, `${parameter.name}=${texts.join('%2C')}`];
}

/** True for integers that accept the exponent form (Decision 184). */
function isLarge(schema: JsonObject): boolean {
  return bigIntegerBits(schema) !== undefined;
}

function beyondBounds({ minimum, maximum, format }: JsonObject): string[] {
  const below = typeof minimum === 'number' ? [String(BigInt(minimum) - 1n)] : [];
  const above = typeof maximum === 'number' ? [String(BigInt(maximum) + 1n)] : [];
  return [...below, ...above, ...(format === 'uint256' ? [String(2n ** 256n)] : [])];
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
