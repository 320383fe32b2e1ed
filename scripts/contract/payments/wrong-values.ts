import type { Json, JsonObject } from '#contract/contracts/document.ts';
import type { PaymentsErrorCode } from '#contract/contracts/payments-errors.ts';

/** Pattern of addresses in bodies. A text that violates it has its own error code (Decision 98). */
const ADDRESS = '^0x[0-9a-fA-F]{40}$';

/** Two values of wrong types per type. */
const OF_OTHER_TYPES: Readonly<Record<string, readonly Json[]>> = {
  string: [7, {}],
  integer: ['7', 1.5],
  number: ['7', []],
  boolean: ['true', 1],
  array: [{}, 'x'],
  object: [[], 'x'],
};

/** Texts, some of which every pattern refuses. */
const NO_PATTERNS = ['', '-1', '1e3', '01', '1.5', '0xzz', ' ', '!', '\u0007', '\u202e', '１２'];
const PATTERNS_TRIED = 4;

/** Texts that violate a format but not its pattern, if it has one. */
const NO_FORMATS: Readonly<Record<string, readonly string[]>> = {
  amount: [String(2n ** 256n)],
  'http-url': ['ftp://shop.example/', 'https://.', 'https://shop.example:0/'],
  'https-url': ['http://shop.example/', 'javascript:alert(1)', 'https://user:word@shop.example/'],
  'image-url': ['http://shop.example/logo.png', 'javascript:alert(1)'],
  email: ['nobody', 'a@b@c.example'],
  'date-time': ['2027-02-30T00:00:00Z', '2027-01-01T25:00:00Z'],
};

export interface WrongValue {
  readonly value: Json;
  readonly code: PaymentsErrorCode;
}

/** Values that a schema refuses, each for a different reason: type, bounds, pattern, format, enum. */
export function wrongValues(schema: JsonObject): WrongValue[] {
  const types = typesOf(schema);
  const others = types.flatMap(type => OF_OTHER_TYPES[type] ?? []).filter(value => !isOneOf(types, value));
  const empty = types.length === 0 || types.includes('null') ? [] : [null];
  const wrong = [...others, ...empty].map(value => ({ value, code: 'invalid_field_value' as const }));
  const code = schema.pattern === ADDRESS ? ('invalid_address' as const) : ('invalid_field_value' as const);
  return [...wrong, ...wrongTexts(schema).map(value => ({ value, code })), ...outOfBounds(schema)];
}

/** Types that a schema allows. */
export function typesOf({ type }: JsonObject): readonly string[] {
  if (typeof type === 'string') return [type];
  return Array.isArray(type) ? type.map(String) : [];
}

function wrongTexts(schema: JsonObject): string[] {
  const { pattern, format, minLength, maxLength } = schema;
  if (!typesOf(schema).includes('string')) return [];
  if (Array.isArray(schema.enum)) return ['nonsense'];
  const form = typeof pattern === 'string' ? new RegExp(pattern, 'u') : undefined;
  const texts =
    form === undefined ? [] : NO_PATTERNS.filter(text => !form.test(text)).slice(0, PATTERNS_TRIED);
  if (typeof minLength === 'number' && minLength > 0) texts.push('a'.repeat(minLength - 1));
  if (typeof maxLength === 'number') texts.push('a'.repeat(maxLength + 1));
  return [...new Set([...texts, ...(NO_FORMATS[String(format)] ?? [])])];
}

function outOfBounds({ minimum, maximum }: JsonObject): WrongValue[] {
  const values = [
    ...(typeof minimum === 'number' ? [minimum - 1] : []),
    ...(typeof maximum === 'number' ? [maximum + 1] : []),
  ];
  return values.map(value => ({ value, code: 'invalid_field_value' }));
}

function isOneOf(types: readonly string[], value: Json): boolean {
  if (Array.isArray(value)) return types.includes('array');
  if (typeof value === 'number') {
    return types.includes('number') || (Number.isInteger(value) && types.includes('integer'));
  }
  return types.includes(value === null ? 'null' : typeof value);
}
