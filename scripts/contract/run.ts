import type { Contract } from '../../src/contract/contracts/contract.ts';
import { child, type Json } from '../../src/contract/contracts/document.ts';
import { responseValidators } from '../../src/contract/mount/response-validators.ts';
import { isObject } from '../../src/lib/json.ts';
import { tryPaths, tryProtocol, tryQueries, withExamples } from './attempts.ts';
import type { Exchange, RecordingClient } from './client.ts';
import { type GatheredValues, gatherChains, gatherValues } from './gathered-values.ts';
import { bodyIn, isFilled, judge, parsed, type Target, targetsOf } from './judge.ts';
import { needs, realPaths } from './paths.ts';
import { isQuery, tryQueryRules } from './query-rules.ts';
import { tryRecordRules } from './record-rules.ts';
import type { Tester } from './tester.ts';

/** Result of a run. Each finding is one line with request and rule. */
export interface ContractReport {
  /** Number of responses with content per operation. */
  readonly filled: ReadonlyMap<string, number>;
  readonly findings: readonly string[];
}

interface RunOptions {
  /** False when some operations may lack a back end for their data. That refusal is then not a finding. */
  readonly isWhole: boolean;
}

/**
 * Tests every operation of a service's contracts with good, bad and hostile input, and checks each response. Values
 * from responses of earlier contracts are used in requests of later ones.
 */
export async function runContracts(
  contracts: readonly Contract<unknown>[],
  client: RecordingClient,
  options: RunOptions = { isWhole: true },
): Promise<ContractReport> {
  const filled = new Map<string, number>();
  const findings: string[] = [];
  const found: GatheredValues = new Map();
  gatherChains(found, parsed((await client.send('GET', '/chains')).text)?.value);
  for (const contract of contracts) {
    const tester = await testerOf(contract, client, { filled, findings, found, ...options });
    const targets = targetsOf(contract.document);
    for (const { id } of targets) filled.set(id, 0);
    // Operations that need no values come first, because their responses supply values for the others.
    for (const target of targets.toSorted((a, b) => needs(a.path) - needs(b.path))) await run(tester, target);
    await tryUnknownPaths(tester, targets);
  }
  return { filled, findings };
}

async function run(tester: Tester, target: Target): Promise<void> {
  const happy = realPaths(tester.found, target.path);
  for (const path of happy) await tester.body(target, path);
  const path = happy[0] ?? withExamples(tester.document, target);
  await tryProtocol(tester, target, path);
  await tryQueries(tester, target, path);
  await tryPaths(tester, target);
  if (happy.length === 0 || !target.parameters.some(({ name }) => name === 'chain')) return;
  await (isQuery(target) ? tryQueryRules : tryRecordRules)(tester, target, path);
}

/** Tests that errors on unknown paths have the form of the contract's errors. */
async function tryUnknownPaths({ client, document, report }: Tester, targets: readonly Target[]) {
  const { property = 'message' } = child(document, 'x-errors');
  const roots = new Set(targets.map(({ path }) => `/${path.split('/')[1]}`));
  for (const root of roots) {
    const { status, text } = await client.send('GET', `${root}/no/such/operation`);
    const body = parsed(text)?.value;
    const isRight = isObject(body) && Object.keys(body).join() === property;
    if (status !== 404 || !isRight)
      report(`${root}/no/such/operation → ${status}: not a 404 with ${property}`);
  }
}

interface Gathered {
  readonly filled: Map<string, number>;
  readonly findings: string[];
  readonly found: GatheredValues;
}

async function testerOf(
  { document }: Contract<unknown>,
  client: RecordingClient,
  { filled, findings, found, isWhole }: Gathered & RunOptions,
): Promise<Tester> {
  const validators = responseValidators(document);
  const check: Tester['check'] = async (target, { path, method = 'GET', headers = {} }, expected) => {
    const exchange = await client.send(method, path, headers);
    const isLacking = !isWhole && lacksBackend(exchange);
    findings.push(...judge(validators, exchange, target, status => isLacking || expected(status)));
    const body = bodyOf(exchange);
    if (body !== undefined && isFilled(body)) filled.set(target.id, (filled.get(target.id) ?? 0) + 1);
    // Values from another chain need not exist on the default one.
    if (body !== undefined && !/[?&]chain(_id)?=/.test(path)) gatherValues(found, body);
    return exchange;
  };
  return {
    document,
    client,
    found,
    check,
    body: async (target, path) => bodyOf(await check(target, { path }, status => status === 200)),
    report: finding => void findings.push(finding),
  };
}

/**
 * True when no back end has such data: 501 in the explorer, and a fixed sentence in insights, whose errors share one
 * status.
 */
function lacksBackend({ status, text }: Exchange): boolean {
  return status === 501 || (status === 500 && text.includes('No configured back end has this answer'));
}

function bodyOf(exchange: Exchange): Json | undefined {
  return exchange.method === 'GET' && exchange.status === 200 ? bodyIn(exchange)?.value : undefined;
}
