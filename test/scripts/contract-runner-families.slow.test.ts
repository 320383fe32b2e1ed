import type { Middleware } from 'koa';
import { describe, expect } from 'vitest';
import { recordingClient } from '../../scripts/contract/client.ts';
import { runContracts } from '../../scripts/contract/run.ts';
import { type Contract, errorBodies } from '../../src/contract/contracts/contract.ts';
import { dataServiceContract } from '../../src/contract/contracts/data-service.ts';
import { child } from '../../src/contract/contracts/document.ts';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { insightsContract } from '../../src/contract/contracts/insights.ts';
import { type Served, serve } from '../http/serve.ts';
import type { TestDataService } from '../lab/data-service.ts';
import { list, record } from '../lab/json.ts';
import { test } from '../support/served-devnet.ts';

let service: TestDataService;

test.beforeAll(({ serviceOfBoth }) => {
  service = serviceOfBoth;
});

/** A contract with only some of its paths. */
function only({ document, ...contract }: Contract<unknown>, ...paths: string[]): Contract<unknown> {
  const all = child(document, 'paths');
  const some = Object.fromEntries(paths.map(path => [path, all[path] ?? null]));
  return { ...contract, document: { ...document, paths: some } };
}

async function run(url: string, contracts: readonly Contract<unknown>[]) {
  const client = recordingClient({ baseUrl: url });
  const report = await runContracts(contracts, client);
  await client.close();
  return { ...report, requests: client.exchanges.length };
}

test('the contract runner has no findings at the service of both families, and covers every operation', async () => {
  const { filled, findings, requests } = await run(service.url, [
    explorerContract,
    insightsContract,
    dataServiceContract,
  ]);
  const notSeen = [...filled].flatMap(([id, count]) => (count === 0 ? [id] : []));

  expect(findings).toEqual([]);
  expect(filled.size).toBe(76);
  expect(requests).toBeGreaterThan(5_000);
  // The embedded chains have no validators with withdrawals.
  expect(notSeen).toEqual(['listBlockWithdrawals', 'listAddressWithdrawals', 'listWithdrawals']);
}, 180_000);

test('the contract runner reads a stream up to its first events, and checks them', async () => {
  const { filled, findings } = await run(service.url, [only(explorerContract, '/explorer/live')]);

  expect(findings).toEqual([]);
  expect(filled.get('streamLive')).toBeGreaterThan(5);
});

const V1 = '/insights/v1';
const blocks = only(insightsContract, `${V1}/blocks`);

interface Relayed {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly text: string;
}

/** The chains do not grow, and the requests behind every fault are the same. */
const relayed = new Map<string, Promise<Relayed>>();

async function relay(
  target: string,
  init: { method: string; headers: Record<string, string> },
): Promise<Relayed> {
  const response = await fetch(service.url + target, init);
  const headers = [...response.headers].filter(
    ([name]) => !['content-encoding', 'content-length', 'transfer-encoding'].includes(name),
  );
  return { status: response.status, headers, text: await response.text() };
}

/** Requests and answers of the service, with a fault between it and the client. */
function faulty({ ask = query => query, answer = body => body, status = code => code }: Fault): Middleware {
  return async ctx => {
    const query = ask(ctx.querystring);
    const target = `${ctx.path}${query === '' ? '' : `?${query}`}`;
    const held = ctx.get('if-none-match');
    const request = `${ctx.method} ${target} ${held}`;
    const asked =
      relayed.get(request) ?? relay(target, { method: ctx.method, headers: { 'if-none-match': held } });
    relayed.set(request, asked);
    const { text, headers, status: code } = await asked;
    for (const [name, value] of headers) ctx.set(name, value);
    ctx.body = text === '' ? null : JSON.stringify(answer(record(JSON.parse(text)), ctx.querystring));
    if (text !== '') ctx.type = 'application/json';
    ctx.status = status(code);
  };
}

/** The service behind a fault. */
function serveFaulty(fault: Fault): Promise<Served> {
  return serve([faulty(fault)], { formatError: errorBodies([explorerContract, insightsContract]) });
}

interface Fault {
  ask?(query: string): string;
  answer?(body: Record<string, unknown>, query: string): unknown;
  status?(code: number): number;
}

const without = (pattern: RegExp) => (query: string) => query.replace(pattern, '').replace(/^&/, '');

/** Answers whose member `name` goes through `change`. */
const changed = (name: string, change: (value: unknown) => unknown) => (body: Record<string, unknown>) =>
  name in body ? { ...body, [name]: change(body[name]) } : body;

describe('behind a fault, the runner reports', () => {
  test('nothing when the fault is empty', async () => {
    await using server = await serveFaulty({});

    const { findings } = await run(server.url, [blocks]);

    expect(findings).toEqual([]);
  });

  test.each<[string, Fault, RegExp]>([
    [
      'a filter that is ignored',
      { ask: without(/filter_block_number_lt=\d+/) },
      /filter_block_number_lt=\d+: has a record that does not match/,
    ],
    [
      'a filter that matches nothing',
      { ask: query => query.replace(/filter_hash=0x..../, 'filter_hash=0x0000') },
      /filter_hash=0x.*: lacks the record that it was taken from/,
    ],
    [
      'an accepted unknown filter',
      { ask: without(/filter_undeclared=1/) },
      /filter_undeclared=1 → 200: unexpected status/,
    ],
    [
      'an order that is ignored',
      { ask: without(/sort_order=asc/) },
      /sort_order=asc.*: is not in this order/,
    ],
    ['a page that is ignored', { ask: without(/page=1$/) }, /page 1 is page 0 again/],
    ['an accepted page beyond the maximum', { ask: without(/page=21$/) }, /page=21 → 200: unexpected status/],
    [
      'a chain that is ignored',
      { ask: without(/chain_id=31338/) },
      /chain_id=31338: meta names the chains 31337/,
    ],
    ['an accepted invalid expression', { ask: without(/aggregate=sum\(.*/) }, /sum\( → 200: unexpected/],
    [
      'groups under other keys',
      {
        answer: changed('aggregations', groups =>
          list(groups).map(group => ({ ...record(group), another: 1 })),
        ),
      },
      /has a group of another,.*not of/,
    ],
    ['groups that are missing', { answer: changed('aggregations', () => []) }, /has no groups/],
    [
      'a count of zero for existing rows',
      { answer: changed('meta', meta => ({ ...record(meta), total_items: 0 })) },
      /limit=0 has no total/,
    ],
    [
      'an error in the form of the other family',
      { answer: body => ('error' in body ? { message: body.error } : body) },
      /→ 400: .*required.*error/,
    ],
    [
      'an error outside the operations in another form',
      { answer: body => (body.error === 'Not found' ? { message: body.error } : body) },
      /\/insights\/no\/such\/operation → 404: not a 404 with error/,
    ],
    [
      'a status of the other family',
      { status: code => (code === 400 ? 501 : code) },
      /→ 501: undeclared status/,
    ],
  ])('%s', async (_name, fault, finding) => {
    await using server = await serveFaulty(fault);

    const { findings } = await run(server.url, [blocks]);

    expect(findings).toContainEqual(expect.stringMatching(finding));
  });

  test('a flag that has no effect', async () => {
    await using server = await serveFaulty({ ask: without(/include_holders=true/) });
    const contracts = [
      only(explorerContract, '/explorer/token-transfers'),
      only(insightsContract, `${V1}/tokens/lookup`, `${V1}/tokens/price`),
    ];

    const { findings } = await run(server.url, contracts);

    expect(findings).toContainEqual(
      expect.stringMatching(/^getTokenPrices: .*include_holders=true: has a record without holders$/),
    );
  });

  test('an operation that never has a result', async () => {
    const empty = changed('data', () => []);
    await using server = await serveFaulty({ answer: empty });

    const { filled } = await run(server.url, [blocks]);

    expect([...filled]).toEqual([['queryBlocks', 0]]);
  });
});
