import { child, type JsonObject, list, resolve } from '../../src/contract/contracts/document.ts';
import { isObject } from '../../src/lib/json.ts';
import type { Target } from './judge.ts';
import { withQuery } from './paths.ts';
import type { Tester } from './tester.ts';
import { badValues, goodValues, HOSTILE, listQueries, mostValues } from './values.ts';

/** Parameters with examples that may not exist here: a chain, or a field of other records. */
const BOUND = ['chain', 'chain_id', 'cursor', 'sort_by', 'group_by'];
const UNKNOWN_NAME = 'nobody-has-this-name.invalid';

/** Tests the protocol, apart from parameters: other methods, HEAD, and conditional requests. */
export async function tryProtocol(tester: Tester, target: Target, path: string): Promise<void> {
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    await tester.check(target, { path, method }, status => status === 405);
  }
  const get = await tester.client.send('GET', path);
  const head = await tester.client.send('HEAD', path);
  const differs = head.status !== get.status || head.headers['content-type'] !== get.headers['content-type'];
  if (differs || head.text !== '')
    tester.report(`${target.id}: HEAD ${path} → ${head.status}: not like GET, which is ${get.status}`);
  const { etag } = get.headers;
  if (get.status !== 200 || typeof etag !== 'string') return;
  // Live data may have changed in between, so a new 200 is right too.
  const headers = { 'if-none-match': etag };
  await tester.check(target, { path, headers }, status => status === 304 || status === 200);
}

/** Tests every query parameter with allowed, refused and hostile values. */
export async function tryQueries(tester: Tester, target: Target, path: string): Promise<void> {
  const { document } = tester;
  const ask = async (query: string, expected: (status: number) => boolean) =>
    void (await tester.check(target, { path: withQuery(path, query) }, expected));
  const isIn = (statuses: readonly number[]) => (status: number) => statuses.includes(status);
  const bound = new Set([...positionKeys(document), ...BOUND]);
  await ask('undeclared=1', isIn([200, 404]));
  for (const beginning of list(document, 'x-closed-parameters')) {
    await ask(`${beginning}undeclared=1`, isIn([400]));
  }
  for (const parameter of target.parameters.filter(({ in: place }) => place === 'query')) {
    const name = String(parameter.name);
    const values = goodValues(document, parameter);
    const good = values.map(value => `${name}=${encodeURIComponent(value)}`);
    // A filter accepts any valid value. An example of a chain or of a position need not exist here.
    const isBound = bound.has(name) || isNameOrAddress(tester, parameter);
    const allowed = isIn(isBound ? [200, 400, 404] : [200, 404]);
    for (const query of good) await ask(query, allowed);
    for (const value of badValues(document, parameter)) await ask(`${name}=${value}`, isIn([400]));
    for (const value of HOSTILE) await ask(`${name}=${value}`, status => status < 500);
    const most = mostValues(document, parameter);
    const [first = `${name}=1`] = good;
    const [one = '1', two = one] = values;
    if (most === 1) await ask(`${first}&${first}`, isIn([400]));
    else for (const query of listQueries(document, parameter, [one, two, one])) await ask(query, allowed);
    if (most > 1 && most < 100) {
      const tooMany = Array.from({ length: most + 1 }, () => one);
      for (const query of listQueries(document, parameter, tooMany)) await ask(query, isIn([400]));
    }
  }
}

/** Tests every path parameter with refused and hostile values, and with an unknown name. */
export async function tryPaths(tester: Tester, target: Target): Promise<void> {
  const { document } = tester;
  for (const parameter of target.parameters.filter(({ in: place }) => place === 'path')) {
    const at = (value: string) => withExamples(document, target, new Map([[String(parameter.name), value]]));
    for (const value of badValues(document, parameter).filter(text => text !== '' && text !== ',')) {
      await tester.check(target, { path: at(value) }, status => status === 400);
    }
    const good = goodValues(document, parameter);
    for (const value of HOSTILE) {
      const least = takesAnyText(tester, parameter) || good.includes(value) ? 200 : 400;
      await tester.check(target, { path: at(value) }, status => status >= least && status < 500);
    }
    if (isNameOrAddress(tester, parameter)) {
      const expected = target.statuses.has('404') ? 404 : 400;
      await tester.check(target, { path: at(UNKNOWN_NAME) }, status => status === expected);
    }
  }
}

/** True for a parameter that takes names. Names in examples need not be known here. */
function isNameOrAddress({ document }: Tester, parameter: JsonObject): boolean {
  return goodValues(document, parameter).some(value => value.endsWith('.eth'));
}

/** True for a parameter whose schema allows any short text. */
function takesAnyText({ document }: Tester, parameter: JsonObject): boolean {
  const schema = resolve(document, child(parameter, 'schema'));
  return schema.type === 'string' && ['pattern', 'format', 'enum'].every(rule => schema[rule] === undefined);
}

/** Parameters of page positions: the properties of schemas named as cursors. */
function positionKeys(document: JsonObject): string[] {
  const schemas = Object.entries(child(child(document, 'components'), 'schemas'));
  return schemas.flatMap(([name, schema]) =>
    name.endsWith('Cursor') && isObject(schema)
      ? Object.keys(child(resolve(document, schema), 'properties'))
      : [],
  );
}

/** Path of an operation, filled with its examples. */
export function withExamples(
  document: JsonObject,
  target: Target,
  given: ReadonlyMap<string, string> = new Map(),
): string {
  return target.path.replace(/\{([^}]+)\}/g, (whole, name: string) => {
    const parameter = target.parameters.find(candidate => candidate.name === name);
    const example = parameter === undefined ? undefined : goodValues(document, parameter)[0];
    return given.get(name) ?? (example === undefined ? whole : encodeURIComponent(example));
  });
}
