import type { JsonObject } from '#contract/contracts/document.ts';
import { isObject } from '#lib/json.ts';
import { newKey } from '#payments/keys/api-key.ts';
import { badValues, HOSTILE, valueSchema } from '../values.ts';
import { bodyFaults, sampleOf } from './body-faults.ts';
import { isKeyed, type Operation, permissionFor } from './operation.ts';
import type { Tester } from './tester.ts';

/** Body beyond the maximum length (Decision 101). */
const TOO_LONG = JSON.stringify({ name: 'x'.repeat(300 * 1024) });
const SQL = encodeURIComponent("' or 1=1; drop table payment_links; --");
const WRONG = ['400 invalid_field_value'];

/** Bodies that are refused before their fields are checked. */
const NO_BODIES: readonly (readonly [raw: string, headers?: Readonly<Record<string, string>>])[] = [
  ['{"__proto__": {"admin": true}}'],
  ['"text"'],
  ['null'],
  ['{"name": "\\u0000"}'],
  ['{"name": "\\ud800"}'],
  [`{"metadata": ${'{"a":'.repeat(20)}1${'}'.repeat(20)}}`],
  [`{"items": [${Array.from({ length: 5_001 }, () => '1').join()}]}`],
  ['name=x', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['{"name": "x"}', { 'content-type': 'application/json; charset=utf-16' }],
  ['{"name": "x"}', { 'content-encoding': 'gzip' }],
  [TOO_LONG],
  ['[]'],
  ['{"name": "broken"'],
  ['{"name": "x"}', { 'content-type': 'text/plain' }],
];

/** Rules that were already tested in full. Later occurrences are tested only briefly. */
export type Known = Set<string>;

/** Tests refusals that need no record, and requests for missing records. */
export async function tryOperation(tester: Tester, operation: Operation, known: Known): Promise<void> {
  if (isKeyed(operation)) await tryKeys(tester, operation);
  await tryPaths(tester, operation, known);
  await tryQueries(tester, operation, known);
  if (operation.body !== undefined) await tryBodies(tester, operation, operation.body, known);
  if (operation.row.replayable === true) await tryIdempotencyKeys(tester, operation, known);
}

/** Tests that a read key is refused for an operation that needs more. */
export async function tryPermission(tester: Tester, operation: Operation, readKey: string): Promise<void> {
  if (!isKeyed(operation) || permissionFor(operation) === 'read') return;
  // Only callers with permission learn what is wrong with a body.
  const body = operation.body === undefined ? {} : { raw: '{' };
  await tester.ask(operation, { ...body, key: readKey }, ['403 insufficient_permissions']);
}

/** Tests that a missing method is a 404 whose Allow header lists the existing ones. */
export async function tryMethods(tester: Tester, path: string): Promise<void> {
  const own = tester.operations.filter(one => one.path === path).map(({ row }) => row.method.toUpperCase());
  for (const method of ['PUT', 'DELETE', 'POST'].filter(one => !own.includes(one))) {
    const { headers } = await tester.askNowhere(method, path.replaceAll(/\{[^}]+\}/g, 'any'));
    const allowed = String(headers.allow).split(', ');
    if (!own.every(one => allowed.includes(one)))
      tester.report(`${method} ${path}: Allow is ${headers.allow}`);
  }
}

/**
 * Tests a GET: HEAD returns the same without a body, and a conditional request of an answer with a tag returns 304. `at` has
 * the values of its path, and of the query of its example.
 */
export async function tryReading(
  tester: Tester,
  operation: Operation,
  at: Readonly<Record<string, string>>,
): Promise<void> {
  const pairs = operation.parameters
    .filter(one => one.in === 'query' && one.example !== undefined)
    .map(({ name }) => `${name}=${at[String(name)]}`);
  const target = pairs.length === 0 ? { at } : { at, query: pairs.join('&') };
  const get = await tester.ask(operation, target, ['200']);
  const head = await tester.ask(operation, { ...target, method: 'HEAD' }, ['200']);
  if (head.headers['content-type'] !== get.headers['content-type']) {
    tester.report(`${operation.id}: HEAD has another Content-Type than GET`);
  }
  const held = { ...target, headers: { 'if-none-match': String(get.headers.etag) } };
  // The record may have changed in between, and then has another tag.
  const again = await tester.ask(operation, held, ['304', '200']);
  const isUnchanged = get.headers.etag !== undefined && again.headers.etag === get.headers.etag;
  if (again.status === 200 && isUnchanged) {
    tester.report(`${operation.id}: a conditional request gets the unchanged response again`);
  }
  await tester.ask(operation, { at, query: [...pairs, 'undeclared=1'].join('&') }, ['200']);
}

async function tryKeys(tester: Tester, operation: Operation): Promise<void> {
  await tester.ask(operation, { key: null }, ['401 key_missing']);
  await tester.ask(operation, { key: newKey('test') }, ['401 key_invalid']);
  await tester.ask(operation, { key: 'no key' }, ['401 key_invalid']);
}

async function tryPaths(tester: Tester, operation: Operation, known: Known): Promise<void> {
  const { example } = operation;
  const body = example === undefined ? {} : { body: example };
  for (const { name } of operation.parameters.filter(({ in: place }) => place === 'path')) {
    const at = (value: string) => ({ ...body, at: { [String(name)]: value } });
    await tester.ask(operation, body, ['404 resource_not_found']);
    // A text longer than any id is refused for its form alone.
    await tester.ask(operation, at('a'.repeat(201)), WRONG);
    await tester.ask(operation, at('a%2F..%2Fb'), ['404 resource_not_found']);
    for (const value of isNew(known, `path ${name}`) ? HOSTILE : []) {
      await tester.ask(operation, at(value), [...WRONG, '404 resource_not_found']);
    }
  }
}

async function tryQueries(tester: Tester, operation: Operation, known: Known): Promise<void> {
  for (const parameter of operation.parameters.filter(({ in: place }) => place === 'query')) {
    const name = String(parameter.name);
    const refused = [`400 invalid_field_value ${name}`];
    const isFirst = isNew(known, `query ${name}`);
    const bad = badValues(tester.document, parameter);
    for (const value of isFirst ? bad : bad.slice(0, 1)) {
      await tester.ask(operation, { query: `${name}=${value}` }, refused);
    }
    await tester.ask(operation, { query: `${name}=1&${name}=1` }, refused);
    if (isFirst) await tester.ask(operation, { query: `${name}x=1` }, [`400 invalid_field_value ${name}x`]);
    // A filter by a value that does not exist is valid, and nothing below an unknown id is found.
    const possible = ['200', '404 resource_not_found', ...WRONG];
    for (const value of isFirst ? hostileTo(tester, parameter) : []) {
      await tester.ask(operation, { query: `${name}=${value}` }, possible);
    }
  }
}

async function tryBodies(
  tester: Tester,
  operation: Operation,
  schema: NonNullable<Operation['body']>,
  known: Known,
): Promise<void> {
  const isFirst = isNew(known, `bodies ${isKeyed(operation) ? 'with' : 'without'} a key`);
  for (const [raw, headers = {}] of isFirst ? NO_BODIES : [])
    await tester.ask(operation, { raw, headers }, WRONG);
  for (const { body, code, place } of bodyFaults(tester.document, schema, known)) {
    await tester.ask(operation, { body }, [`400 ${code} ${place}`]);
  }
  const whole = operation.example ?? sampleOf(tester.document, schema);
  const unknown = { body: { ...(isObject(whole) ? whole : {}), undeclared: 1 } };
  const isEmpty = operation.row.method === 'patch' && Object.keys(unknown.body).length === 1;
  if (!isEmpty) await tester.ask(operation, unknown, ['400 invalid_field_value undeclared']);
  if (operation.row.method === 'patch') {
    for (const body of isFirst ? [{}, { undeclared: 1 }] : [{ undeclared: 1 }]) {
      await tester.ask(operation, { body }, ['400 no_updates_provided']);
    }
  }
}

async function tryIdempotencyKeys(tester: Tester, operation: Operation, known: Known): Promise<void> {
  const body = operation.body === undefined ? {} : { raw: '{' };
  const wrong = ['two words', 'x'.repeat(257)];
  for (const key of isNew(known, 'idempotency keys') ? wrong : wrong.slice(1)) {
    await tester.ask(operation, { ...body, headers: { 'idempotency-key': key } }, [
      '400 invalid_field_value Idempotency-Key',
    ]);
  }
}

/** Hostile values for a parameter. For an enum or a boolean, one is enough. */
function hostileTo(tester: Tester, parameter: JsonObject): readonly string[] {
  const { enum: values, type } = valueSchema(tester.document, parameter);
  return values === undefined && type !== 'boolean' ? HOSTILE : [SQL];
}

function isNew(known: Known, name: string): boolean {
  if (known.has(name)) return false;
  known.add(name);
  return true;
}
