import type { Contract } from '../../src/contract/contract.ts';
import { type Json, type JsonObject, operationsOf, parametersOf } from '../../src/contract/document.ts';
import { describeErrors } from '../../src/contract/violations.ts';
import type { Exchange, RecordingClient } from './client.ts';
import { type Harvest, harvest } from './harvest.ts';
import { badValues, goodValues, HOSTILE } from './values.ts';

/** What a run found: each finding is one line naming request and rule. */
export interface ContractReport {
  readonly operations: number;
  readonly findings: readonly string[];
}

type Validators = Awaited<ReturnType<Contract<unknown>['responses']>>;
interface Target {
  readonly id: string;
  readonly path: string;
  readonly statuses: readonly string[];
  readonly parameters: readonly JsonObject[];
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
    if (exchange.status === 200 && exchange.method === 'GET') harvest(found, JSON.parse(exchange.text));
  };

  // Operations without path parameters first: their answers name what the others ask for.
  for (const target of targets.toSorted((a, b) => depth(a.path) - depth(b.path))) {
    const happy = fill(target, found);
    for (const path of happy) check(await client.send('GET', path), target, status => status === 200);
    const [path] = happy.length > 0 ? happy : [withExamples(contract.document, target)];
    if (path === undefined) continue;
    await tryMethods(client, target, path, check, findings);
    await tryConditional(client, target, path, check);
    await tryQueries(contract.document, client, target, path, check);
    await tryPaths(contract.document, client, target, check);
  }
  return { operations: targets.length, findings };
}

type Check = (exchange: Exchange, target: Target, expected: (status: number) => boolean) => void;

function targetsOf(document: JsonObject): Target[] {
  return operationsOf(document).map(({ path, operation }) => ({
    id: String(operation.operationId),
    path,
    statuses: Object.keys(typeof operation.responses === 'object' ? (operation.responses ?? {}) : {}),
    parameters: parametersOf(document, path, operation),
  }));
}

async function tryMethods(
  client: RecordingClient,
  target: Target,
  path: string,
  check: Check,
  findings: string[],
) {
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    const exchange = await client.send(method, path);
    check(exchange, target, status => status === 405);
    if (exchange.status === 405 && exchange.headers.allow === undefined)
      findings.push(`${method} ${path}: 405 without Allow`);
  }
  const get = await client.send('GET', path);
  const head = await client.send('HEAD', path);
  if (head.status !== get.status || head.text !== '')
    findings.push(`HEAD ${path}: ${head.status}, GET ${get.status}`);
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
  await ask('undeclared=1', status => status === 200 || status === 404);
  for (const parameter of target.parameters.filter(({ in: place }) => place === 'query')) {
    const name = String(parameter.name);
    for (const value of goodValues(document, parameter)) {
      // An example of a chain or a cursor need not exist here.
      await ask(`${name}=${encodeURIComponent(value)}`, status => [200, 400, 404].includes(status));
    }
    for (const value of badValues(document, parameter))
      await ask(`${name}=${value}`, status => status === 400);
    for (const value of HOSTILE) await ask(`${name}=${value}`, status => status < 500);
    const [value = '1'] = goodValues(document, parameter);
    if (!isRepeated(parameter)) await ask(`${name}=${value}&${name}=${value}`, status => status === 400);
  }
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

function judge(
  validators: Validators,
  exchange: Exchange,
  target: Target,
  expected: (status: number) => boolean,
): string[] {
  const { method, url, status, text, headers } = exchange;
  const at = `${target.id}: ${method} ${url.length > 160 ? `${url.slice(0, 160)}…` : url} → ${status}`;
  const findings: string[] = [];
  if (!expected(status)) findings.push(`${at}: unexpected status: ${text.slice(0, 200)}`);
  if (!target.statuses.includes(String(status))) findings.push(`${at}: undeclared status`);
  if (method === 'HEAD' || status === 304) return findings;
  if (!String(headers['content-type']).startsWith('application/json')) findings.push(`${at}: not JSON`);
  const validate = validators[`${target.id}_${status}`];
  if (validate === undefined) return findings;
  try {
    if (!validate(JSON.parse(text))) findings.push(`${at}: ${describeErrors(validate.errors)}`);
  } catch {
    findings.push(`${at}: body is not JSON`);
  }
  return findings;
}

/** The path with real values, a few variants; none when nothing was gathered for a parameter. */
function fill(target: Target, found: Harvest): string[] {
  const names = [...target.path.matchAll(/\{([^}]+)\}/g)].map(match => match[1] ?? '');
  if (names.length === 0) return [target.path];
  const variants = Math.min(...names.map(name => found.get(name)?.size ?? 0));
  return Array.from({ length: variants }, (_, index) =>
    target.path.replace(/\{([^}]+)\}/g, (_whole, name: string) => [...(found.get(name) ?? [])][index] ?? ''),
  );
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

function depth(path: string): number {
  return path.split('{').length;
}
