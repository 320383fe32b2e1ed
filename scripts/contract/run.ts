import type { Contract } from '../../src/contract/contract.ts';
import { child, type Json, type JsonObject, resolve } from '../../src/contract/document.ts';
import type { Exchange, RecordingClient } from './client.ts';
import { type Harvest, harvest, needs, realPaths } from './harvest.ts';
import { judge, parsed, type Target, targetsOf } from './judge.ts';
import { badValues, goodValues, HOSTILE } from './values.ts';

/** What a run found: each finding is one line naming request and rule. */
export interface ContractReport {
  readonly operations: number;
  readonly findings: readonly string[];
}

/** Drives every operation of a contract with good, bad and hostile input and judges each answer. */
export async function runContract<Operations>(
  contract: Contract<Operations>,
  client: RecordingClient,
): Promise<ContractReport> {
  const validators = await contract.responses();
  const findings: string[] = [];
  const found: Harvest = new Map();
  const targets = targetsOf(contract.document);
  const check = (exchange: Exchange, target: Target, expected: (status: number) => boolean) => {
    findings.push(...judge(validators, exchange, target, expected));
    const body = exchange.status === 200 && exchange.method === 'GET' ? parsed(exchange.text) : undefined;
    if (body !== undefined) harvest(found, body.value);
  };

  // Operations that need nothing first: their answers name what the others ask for.
  for (const target of targets.toSorted((a, b) => needs(a.path) - needs(b.path))) {
    const happy = realPaths(found, target.path);
    for (const path of happy) check(await client.send('GET', path), target, status => status === 200);
    const [path] = happy.length > 0 ? happy : [withExamples(contract.document, target)];
    if (path === undefined) continue;
    await tryMethods(client, target, path, check);
    await tryHead(client, target, path, findings);
    await tryConditional(client, target, path, check);
    await tryQueries(contract.document, client, target, path, check);
    await tryPaths(contract.document, client, target, check);
  }
  return { operations: targets.length, findings };
}

type Check = (exchange: Exchange, target: Target, expected: (status: number) => boolean) => void;

async function tryMethods(client: RecordingClient, target: Target, path: string, check: Check) {
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    check(await client.send(method, path), target, status => status === 405);
  }
}

async function tryHead(client: RecordingClient, target: Target, path: string, findings: string[]) {
  const get = await client.send('GET', path);
  const head = await client.send('HEAD', path);
  const differs = head.status !== get.status || head.headers['content-type'] !== get.headers['content-type'];
  if (differs || head.text !== '')
    findings.push(`${target.id}: HEAD ${path} → ${head.status}: not like GET, which is ${get.status}`);
}

async function tryConditional(client: RecordingClient, target: Target, path: string, check: Check) {
  const { status, headers } = await client.send('GET', path);
  const etag = headers.etag;
  if (status !== 200 || typeof etag !== 'string') return;
  // A feed may have moved on in between, so a new 200 is right too.
  check(
    await client.send('GET', path, { 'if-none-match': etag }),
    target,
    code => code === 304 || code === 200,
  );
}

async function tryQueries(
  document: JsonObject,
  client: RecordingClient,
  target: Target,
  path: string,
  check: Check,
) {
  const ask = async (query: string, expected: (status: number) => boolean) =>
    check(await client.send('GET', `${path}?${query}`), target, expected);
  const positions = positionKeys(document);
  await ask('undeclared=1', status => status === 200 || status === 404);
  for (const parameter of target.parameters.filter(({ in: place }) => place === 'query')) {
    const name = String(parameter.name);
    for (const value of goodValues(document, parameter)) {
      // A filter's value is good anywhere; an example of a chain or of a position need not exist here.
      const allowed = positions.has(name) ? [200, 400, 404] : [200, 404];
      await ask(`${name}=${encodeURIComponent(value)}`, status => allowed.includes(status));
    }
    for (const value of badValues(document, parameter))
      await ask(`${name}=${value}`, status => status === 400);
    for (const value of HOSTILE) await ask(`${name}=${value}`, status => status < 500);
    const value = encodeURIComponent(goodValues(document, parameter)[0] ?? '1');
    if (!isRepeated(parameter)) await ask(`${name}=${value}&${name}=${value}`, status => status === 400);
  }
}

/** What leads from page to page: the properties of the schemas that are called a cursor. */
function positionKeys(document: JsonObject): ReadonlySet<string> {
  const schemas = Object.entries(child(child(document, 'components'), 'schemas'));
  return new Set(
    schemas.flatMap(([name, schema]) =>
      name.endsWith('Cursor') ? Object.keys(child(resolve(document, schema), 'properties')) : [],
    ),
  );
}

async function tryPaths(document: JsonObject, client: RecordingClient, target: Target, check: Check) {
  for (const parameter of target.parameters.filter(({ in: place }) => place === 'path')) {
    const at = (value: string) => withExamples(document, target, new Map([[String(parameter.name), value]]));
    for (const value of badValues(document, parameter).filter(text => text !== '' && text !== ',')) {
      check(await client.send('GET', at(value)), target, status => status === 400);
    }
    for (const value of HOSTILE) {
      check(await client.send('GET', at(value)), target, status => status >= 400 && status < 500);
    }
  }
}

function withExamples(
  document: JsonObject,
  target: Target,
  given: ReadonlyMap<string, string> = new Map(),
): string {
  return target.path.replace(/\{([^}]+)\}/g, (whole, name: string) => {
    const parameter = target.parameters.find(candidate => candidate.name === name);
    const example = parameter === undefined ? undefined : goodValues(document, parameter)[0];
    return given.get(name) ?? example ?? whole;
  });
}

function isRepeated(parameter: JsonObject): boolean {
  const schema: Json | undefined = parameter.schema;
  return (
    typeof schema === 'object' &&
    schema !== null &&
    'type' in schema &&
    schema.type === 'array' &&
    parameter.explode !== false
  );
}
