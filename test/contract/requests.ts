import fc, { type Arbitrary } from 'fast-check';
import {
  child,
  type JsonObject,
  list,
  operationsOf,
  parametersOf,
  resolve,
} from '../../src/contract/document.ts';
import { explorerContract } from '../../src/contract/explorer.ts';
import type { OperationRow } from '../../src/contract/operations.ts';

const { document } = explorerContract;

interface Parameter {
  readonly name: string;
  readonly place: string;
  readonly schema: JsonObject;
}

/** What narrows a list; every other query key is part of a position. */
const FILTERS = ['filter', 'type', 'method', 'q', 'chain_id'];

/**
 * Keys of a position belong together (Decision 4): a request has all that a list needs, or none. Lists whose position
 * is more than a place in the chain are walked elsewhere.
 */
function placeOf(names: readonly string[], id: string): readonly string[] {
  if (id.includes('InternalTransactions')) return ['block_number', 'transaction_index', 'index'];
  if (id.includes('Withdrawals')) return ['index'];
  return ['block_number', 'index'].filter(name => names.includes(name));
}

type Known = Readonly<Record<string, readonly string[]>>;

/** Paths with queries that the contract allows for an operation, about existing and made-up things alike. */
export function validRequest(
  row: OperationRow,
  { chainIds, known }: { chainIds: readonly number[]; known: Known },
): Arbitrary<string> {
  const parameters = parametersIn(row);
  const fromPath = parameters.filter(({ place }) => place === 'path');
  const filters = parameters.filter(({ name, place }) => place === 'query' && FILTERS.includes(name));
  const names = parameters.filter(({ place }) => place === 'query').map(({ name }) => name);
  const position = parameters.filter(({ name }) => placeOf(names, row.id).includes(name));
  const path = fc.record(
    Object.fromEntries(
      fromPath.map(({ name, schema }) => [
        name,
        fc.oneof(fc.constantFrom(...(known[name] ?? [])), valid(schema)),
      ]),
    ),
  );
  const query = fc.record(
    Object.fromEntries(
      filters.map(({ name, schema }) => [
        name,
        name === 'chain_id' ? fc.constantFrom(...chainIds.map(String)) : valid(schema),
      ]),
    ),
    { requiredKeys: [] },
  );
  const place = fc.option(fc.record(Object.fromEntries(position.map(one => [one.name, valid(one.schema)]))), {
    nil: {},
  });
  return fc.tuple(path, query, place).map(([segments, values, at]) =>
    // The list of what waits has other keys than block number and index.
    targetOf(row, segments, values.filter === 'pending' ? values : { ...values, ...at }),
  );
}

/** Paths of which one parameter, the named one, is outside of its pattern, list of values, type or bounds. */
export function invalidRequest(row: OperationRow, known: Known): Arbitrary<{ path: string; name: string }> {
  const parameters = parametersIn(row);
  const segments = Object.fromEntries(
    parameters.filter(({ place }) => place === 'path').map(({ name }) => [name, known[name]?.[0] ?? '']),
  );
  return fc.constantFrom(...parameters).chain(({ name, place, schema }) =>
    invalid(schema, place === 'path').map(value => ({
      name,
      path:
        place === 'path'
          ? targetOf(row, { ...segments, [name]: value }, {})
          : targetOf(row, segments, { [name]: value }),
    })),
  );
}

function parametersIn({ path, id }: OperationRow): Parameter[] {
  const operation = operationsOf(document).find(one => one.operation.operationId === id)?.operation ?? {};
  return parametersOf(document, path, operation).map(parameter => ({
    name: String(parameter.name),
    place: String(parameter.in),
    schema: child(parameter, 'schema'),
  }));
}

function targetOf(
  row: OperationRow,
  segments: Readonly<Record<string, string | undefined>>,
  query: Readonly<Record<string, string | undefined>>,
): string {
  const path = row.path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(segments[name] ?? ''),
  );
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  const search = new URLSearchParams(Object.fromEntries(given)).toString();
  return search === '' ? path : `${path}?${search}`;
}

function valid(schema: JsonObject): Arbitrary<string> {
  if (schema.type === 'array') {
    const items = fc.array(valid(resolve(document, schema.items)), { minLength: 1, maxLength: 5 });
    return items.map(values => values.join(','));
  }
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum.map(String));
  if (schema.type === 'integer') {
    const [min, max] = boundsOf(schema);
    return fc.oneof(fc.integer({ min, max: Math.min(max, 100) }), fc.maxSafeNat()).map(String);
  }
  const limit = Number(schema.maxLength ?? 200);
  if (schema.pattern === undefined)
    return fc.string({ maxLength: limit }).filter(text => !text.includes('\0'));
  return fc.stringMatching(patternOf(schema)).filter(text => text.length <= limit);
}

function invalid(schema: JsonObject, inPath: boolean): Arbitrary<string> {
  // A path with an empty or a dotted segment is another path.
  const text = fc
    .oneof(fc.string({ maxLength: 80 }), fc.string({ unit: 'grapheme', maxLength: 20 }), fc.webPath())
    .filter(value => !value.includes('\0') && (!inPath || !['', '.', '..'].includes(value)));
  if (schema.type === 'array') {
    const item = resolve(document, schema.items);
    return text.filter(value => value.split(',').some(one => !accepts(item, one)));
  }
  if (schema.type === 'integer') {
    const [min, max] = boundsOf(schema);
    const outside = fc.constantFrom(
      String(min - 1),
      schema.format === 'uint256' ? String(2n ** 256n) : String(BigInt(max) + 1n),
      '1e3',
      '0x10',
      '-0',
      '01',
      '1.0',
    );
    return fc.oneof(
      outside,
      text.filter(value => !accepts(schema, value)),
    );
  }
  if (schema.enum === undefined && schema.pattern === undefined) {
    return fc.constant('x'.repeat(Number(schema.maxLength) + 1));
  }
  return text.filter(value => !accepts(schema, value));
}

function accepts(schema: JsonObject, value: string): boolean {
  if (Array.isArray(schema.enum)) return list(schema, 'enum').includes(value);
  if (schema.type === 'integer') return /^-?\d+$/.test(value);
  return (
    patternOf(schema).test(value) && value.length <= Number(schema.maxLength ?? Number.POSITIVE_INFINITY)
  );
}

function boundsOf(schema: JsonObject): [number, number] {
  return [Number(schema.minimum ?? 0), Number(schema.maximum ?? Number.MAX_SAFE_INTEGER)];
}

function patternOf(schema: JsonObject): RegExp {
  return new RegExp(String(schema.pattern), 'u');
}
