import fc, { type Arbitrary } from 'fast-check';
import {
  child,
  type JsonObject,
  list,
  operationsOf,
  parametersOf,
  resolve,
} from '../../src/contract/contracts/document.ts';
import type { OperationRow } from '../../src/contract/contracts/operations.ts';

interface Parameter {
  readonly name: string;
  readonly place: string;
  readonly schema: JsonObject;
  readonly required: boolean;
  readonly many: OperationRow['parameters'][number]['many'];
}

/** Filters of explorer lists; every other query key of a list is part of a position. */
const FILTERS = ['filter', 'type', 'method', 'q', 'chain_id'];
/** Parameters that only make sense together with other parameters or fields; other tests send them. */
const EXPRESSIONS = ['sort_by', 'group_by', 'aggregate'];

/**
 * Keys of a position belong together (Decision 4): a request has all that a list needs, or none. Other tests walk
 * lists whose position is more than a place in the chain.
 */
function placeOf(names: readonly string[], id: string): readonly string[] {
  if (id.includes('InternalTransactions')) return ['block_number', 'transaction_index', 'index'];
  if (id.includes('Withdrawals')) return ['index'];
  if (id === 'listSmartContracts') return [];
  return ['block_number', 'index'].filter(name => names.includes(name));
}

type Known = Readonly<Record<string, readonly string[]>>;

/** Sources of requests: the contract, and existing values by the names of the parameters that take them. */
export interface RequestWorld {
  readonly document: JsonObject;
  readonly known: Known;
  /** Parameters that accept only known values, even if their pattern is open. */
  readonly only?: readonly string[];
}

/** Allowed paths with queries of an operation, with existing and made-up values. */
export function validRequest(row: OperationRow, world: RequestWorld): Arbitrary<string> {
  const { known, only = [] } = world;
  const parameters = parametersIn(row, world);
  const fromPath = parameters.filter(({ place }) => place === 'path');
  const names = parameters.filter(({ place }) => place === 'query').map(({ name }) => name);
  const isList = row.path.startsWith('/explorer/');
  const filters = parameters.filter(
    ({ name, place }) => place === 'query' && (isList ? FILTERS.includes(name) : !EXPRESSIONS.includes(name)),
  );
  const position = parameters.filter(({ name }) => isList && placeOf(names, row.id).includes(name));
  const arbitraryOf = (parameter: Parameter) => {
    const existing = known[parameter.name] ?? [];
    if (only.includes(parameter.name)) return fc.constantFrom(...existing);
    const any = valid(parameter, world);
    return existing.length === 0 ? any : fc.oneof(fc.constantFrom(...existing), any);
  };
  const values = (some: readonly Parameter[]) =>
    Object.fromEntries(some.map(parameter => [parameter.name, arbitraryOf(parameter)]));
  const requiredKeys = filters.filter(({ required }) => required).map(({ name }) => name);
  const place = fc.option(fc.record(values(position)), { nil: {} });
  return fc
    .tuple(fc.record(values(fromPath)), fc.record(values(filters), { requiredKeys }), place)
    .map(([segments, query, at]) =>
      // The list of pending transactions has other keys than block number and index.
      targetOf(row, segments, query.filter === 'pending' ? query : { ...query, ...at }),
    );
}

/** Paths with one parameter, the named one, outside of its pattern, list of values, type or bounds. */
export function invalidRequest(
  row: OperationRow,
  world: RequestWorld,
): Arbitrary<{ path: string; name: string }> {
  const { known } = world;
  const parameters = parametersIn(row, world);
  const knownOf = (some: readonly Parameter[]) =>
    Object.fromEntries(some.map(({ name }) => [name, known[name]?.[0] ?? '']));
  const segments = knownOf(parameters.filter(({ place }) => place === 'path'));
  const needed = knownOf(parameters.filter(({ place, required }) => place === 'query' && required));
  return fc.constantFrom(...parameters).chain(parameter =>
    invalid(parameter, world).map(value => ({
      name: parameter.name,
      path:
        parameter.place === 'path'
          ? targetOf(row, { ...segments, [parameter.name]: value }, needed)
          : targetOf(row, segments, { ...needed, [parameter.name]: value }),
    })),
  );
}

function parametersIn({ path, id, parameters }: OperationRow, { document }: RequestWorld): Parameter[] {
  const operation = operationsOf(document).find(one => one.operation.operationId === id)?.operation ?? {};
  const read = parametersOf(document, path, operation).filter(({ in: place }) => place !== 'header');
  return read.map(parameter => ({
    name: String(parameter.name),
    place: String(parameter.in),
    schema: resolve(document, child(parameter, 'schema')),
    required: parameter.required === true,
    many: parameters.find(({ name }) => name === parameter.name)?.many ?? 'one',
  }));
}

type Values = Readonly<Record<string, string | readonly string[] | undefined>>;

function targetOf(row: OperationRow, segments: Values, query: Values): string {
  const path = row.path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(String(segments[name] ?? '')),
  );
  const given = Object.entries(query).flatMap(([name, value = []]) =>
    (typeof value === 'string' ? [value] : value).map((one): [string, string] => [name, one]),
  );
  const search = new URLSearchParams(given).toString();
  return search === '' ? path : `${path}?${search}`;
}

/** A value, or the repetitions of a list. */
function valid({ schema, many }: Parameter, { document }: RequestWorld): Arbitrary<string | string[]> {
  if (many === 'one') return validValue(schema);
  const item = validValue(resolve(document, schema.items));
  const some = { minLength: 1, maxLength: 3 };
  if (many === 'repeated') return fc.array(item, some);
  return fc.array(
    fc.array(item, some).map(values => values.join(',')),
    some,
  );
}

function validValue(schema: JsonObject): Arbitrary<string> {
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum.map(String));
  if (isOf(schema, 'boolean')) return fc.constantFrom('true', 'false');
  if (isOf(schema, 'integer')) {
    const [min, max] = boundsOf(schema);
    const small = fc.integer({ min, max: Math.min(max, 100) }).map(String);
    if (schema.format === 'uint256')
      return fc.oneof(
        small,
        fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String),
        fc.double({ min: 0, max: 1e77, noNaN: true }).map(Math.floor).map(String),
      );
    return max < Number.MAX_SAFE_INTEGER ? small : fc.oneof(small, fc.maxSafeNat().map(String));
  }
  const maxLength = Number(schema.maxLength ?? 200);
  if (schema.pattern === undefined) {
    const minLength = Number(schema.minLength ?? 0);
    return fc.string({ minLength, maxLength }).filter(text => !text.includes('\0'));
  }
  return fc.stringMatching(patternOf(schema)).filter(text => text.length <= maxLength);
}

function invalid({ schema, place, many }: Parameter, { document }: RequestWorld): Arbitrary<string> {
  // A path with an empty or dotted segment is normalised to another path.
  const text = fc
    .oneof(fc.string({ maxLength: 80 }), fc.string({ unit: 'grapheme', maxLength: 20 }), fc.webPath())
    .filter(value => !value.includes('\0') && (place !== 'path' || !['', '.', '..'].includes(value)));
  if (many === 'one') return invalidValue(schema, text);
  const item = resolve(document, schema.items);
  if (many === 'repeated') return invalidValue(item, text);
  return fc.oneof(
    invalidValue(
      item,
      text.filter(value => !value.includes(',')),
    ),
    text.filter(value => value.split(',').some(one => !accepts(item, one))),
  );
}

function invalidValue(schema: JsonObject, text: Arbitrary<string>): Arbitrary<string> {
  const refused = text.filter(value => !accepts(schema, value));
  if (isOf(schema, 'integer')) {
    const [min, max] = boundsOf(schema);
    const isLarge = schema.format === 'uint256';
    const above = isLarge ? 2n ** 256n : BigInt(max) + 1n;
    const exponents = isLarge ? ['1e78', '1.5e0', '1e-3', '1e999999999'] : ['1e3'];
    const outside = [String(min - 1), String(above), ...exponents, '0x10', '-0', '01', '1.0'];
    return fc.oneof(fc.constantFrom(...outside), refused);
  }
  const isOpen = schema.enum === undefined && schema.pattern === undefined && !isOf(schema, 'boolean');
  return isOpen ? fc.constant('x'.repeat(Number(schema.maxLength) + 1)) : refused;
}

function accepts(schema: JsonObject, value: string): boolean {
  // Empty values and null count as missing (Decision 77).
  if (isOf(schema, 'null') && ['', 'null'].includes(value)) return true;
  if (Array.isArray(schema.enum)) return list(schema, 'enum').includes(value);
  if (isOf(schema, 'boolean')) return ['true', 'false'].includes(value);
  if (isOf(schema, 'integer')) return /^-?\d+(?:[.\d]*e[+ ]?\d+)?$/i.test(value);
  return (
    patternOf(schema).test(value) && value.length <= Number(schema.maxLength ?? Number.POSITIVE_INFINITY)
  );
}

function isOf({ type }: JsonObject, name: string): boolean {
  return Array.isArray(type) ? type.includes(name) : type === name;
}

function boundsOf(schema: JsonObject): [number, number] {
  return [Number(schema.minimum ?? 0), Number(schema.maximum ?? Number.MAX_SAFE_INTEGER)];
}

function patternOf(schema: JsonObject): RegExp {
  return new RegExp(String(schema.pattern), 'u');
}
