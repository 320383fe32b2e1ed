import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startTestChain } from '../indexer/support.ts';
import { freePort } from '../lab/loopback-server.ts';
import { type OwnRedis, startOwnRedis } from '../lab/redis.ts';
import { startScriptedUpstream } from '../lab/scripted-upstream.ts';
import { postgresDatabase, urlOf } from '../support/databases.ts';
import { ETHEREUM, type Program, programs } from './programs.ts';

const { start } = programs();
const SECRET = 'pa55phrase';
/** Pause until a store that was late is used again. */
const PAUSE_MS = 1_000;

const LINES = { 'data.cache.store': 1, rateLimitStore: 2 };

const configOf = ({ cache, limits }: { cache: string; limits: string }, chain: string) => `\
data: { listen: "127.0.0.1:0", cache: { store: "${cache}" } }
rateLimitStore: "${limits}"
payments: { listen: "127.0.0.1:0" }
admin: { listen: "127.0.0.1:0" }
trustedProxies: [127.0.0.1]
${chain}`;

/** A chain with unreachable back ends. */
const SILENT_CHAIN = `${ETHEREUM}
    backends: [{ kind: blockscout, url: "http://127.0.0.1:1" }]
`;

async function redisWith(password: string): Promise<OwnRedis> {
  const redis = await startOwnRedis({ password });
  onTestFinished(() => redis[Symbol.asyncDispose]());
  return redis;
}

test.each(['data.cache.store', 'rateLimitStore'] as const)(
  'a start with a Redis that refuses %s exits with 2 and names the setting and its line',
  async setting => {
    const redis = await redisWith('0ther');
    const [right, wrong] = [redis.url, redis.url.replace('0ther', SECRET)];
    const isCache = setting === 'data.cache.store';
    const program = await start(
      configOf({ cache: isCache ? wrong : right, limits: isCache ? right : wrong }, SILENT_CHAIN),
      '--only',
      'data',
    );

    expect(await program.exited).toBe(2);
    expect(program.errors()).toMatch(
      new RegExp(
        `, line ${LINES[setting]}, ${setting}: The Redis of .* cannot be used: it answers "WRONGPASS`,
      ),
    );
    expect(program.errors().trim().split('\n')).toHaveLength(1);
    expect(program.errors()).not.toContain(SECRET);
  },
);

test('a start succeeds without stores that are down, and no output has their passwords', async () => {
  await using instance = await startScriptedUpstream(() => ({ status: 404, json: { message: 'Not found' } }));
  const port = await freePort();
  const url = `redis://:${SECRET}@127.0.0.1:${port}`;
  const program = await start(
    configOf({ cache: url, limits: url }, SILENT_CHAIN.replace('http://127.0.0.1:1', instance.url)),
    '--only',
    'data',
  );
  const { url: data } = await program.ready();
  const admin = program.log.findLast(({ msg }) => msg === 'listening')?.url;

  const answer = await fetch(`${data}/explorer/blocks/1`, { headers: { 'X-Forwarded-For': '203.0.113.5' } });
  const metrics = await (await fetch(`${admin}/metrics`)).text();
  const status = await (await fetch(`${admin}/status`)).text();
  program.child.kill('SIGTERM');

  expect(answer.status).toBe(404);
  expect(answer.headers.get('ratelimit-remaining')).toBe('599');
  expect(metrics).toMatch(/tollgate_store_failures_total\{store="cache"\} [1-9]/);
  expect(metrics).toMatch(/tollgate_store_failures_total\{store="limits"\} [1-9]/);
  expect(await program.exited).toBe(0);
  const warnings = program.log.filter(({ msg }) =>
    /^the (store of the response cache|rate limit store) fails/.test(msg ?? ''),
  );
  expect(warnings).toHaveLength(2);
  expect(metrics + status + JSON.stringify(program.log) + program.errors()).not.toContain(SECRET);
});

test('two replicas share answers and limits, and neither serves reorganised data', async () => {
  const redis = await redisWith(SECRET);
  const chain = await startTestChain();
  onTestFinished(() => chain.stop());
  const { options, remove } = await postgresDatabase();
  onTestFinished(remove);
  await chain.rpc.call('anvil_mine', '0x3c');
  const config = configOf(
    { cache: redis.url, limits: redis.url },
    `chains:
  - id: 31337
    name: Test
    native: { symbol: ETH, decimals: 18 }
    rpc: ["${chain.rpcUrl}"]
    confirmations: 12
    backends: [{ kind: index, database: "${urlOf(options)}" }]
`,
  );
  const replicas = [await start(config, '--only', 'data'), await start(config, '--only', 'data')];
  for (const { child } of replicas) onTestFinished(() => void child.kill('SIGKILL'));
  const [one, other] = await Promise.all(replicas.map(reader));
  if (one === undefined || other === undefined) throw new Error('there are no two replicas');

  const shared = await firstShared(one, other);
  await expect.poll(() => countedBetween(one, other), { interval: PAUSE_MS }).toBe(1);
  const deep = '/explorer/blocks/44';
  const tip = '/explorer/blocks/60';
  const before = await Promise.all([one, other].map(ask => ask(deep)));
  await Promise.all([one, other].map(ask => ask(tip)));
  await chain.reorg(20);
  const [newTip, newDeep] = await Promise.all(['0x3c', '0x2c'].map(number => hashOf(chain.rpc, number)));
  for (const ask of [one, other]) await expect.poll(async () => (await ask(tip)).hash).toBe(newTip);
  const after = await Promise.all([one, other].map(ask => ask(deep)));

  expect(shared.made).toMatchObject({ status: 200, cache: 'MISS' });
  expect(shared.found).toEqual({ ...shared.made, cache: 'HIT' });
  expect(before.map(({ control }) => control)).toEqual(
    Array(2).fill(expect.stringMatching(/^public, max-age/)),
  );
  expect(before.map(({ hash }) => hash)).not.toContain(newDeep);
  expect(after.map(({ hash }) => hash)).toEqual([newDeep, newDeep]);
});

type Read = Awaited<ReturnType<typeof reader>>;

/** A reader of one replica, always as the same client. */
async function reader(program: Program) {
  const { url } = await program.ready();
  return async (path: string) => {
    const { status, headers, text } = await answerOf(`${url}${path}`);
    const hash: unknown = text.startsWith('{') ? JSON.parse(text).hash : undefined;
    return {
      status,
      text,
      hash,
      cache: headers.get('x-cache'),
      tag: headers.get('etag'),
      control: headers.get('cache-control'),
      remaining: headers.get('ratelimit-remaining'),
    };
  };
}

async function answerOf(url: string) {
  const { status, headers, ...answer } = await fetch(url, {
    headers: { 'X-Forwarded-For': '203.0.113.7' },
  }).then(async response => ({
    status: response.status,
    headers: response.headers,
    text: await response.text(),
  }));
  return { status, headers, text: answer.text };
}

/**
 * Asks one replica and then the other until the second finds the first one's answer. A replica whose store answers later
 * than after 50 ms, as on a busy machine, leaves it alone for a second.
 */
async function firstShared(one: Read, other: Read) {
  for (let block = 1; block <= 30; block++) {
    const { remaining: _, ...made } = await one(`/explorer/blocks/${block}`);
    const { remaining: __, ...found } = await other(`/explorer/blocks/${block}`);
    if (found.cache === 'HIT') return { made, found };
    await delay(PAUSE_MS);
  }
  throw new Error('nothing is shared');
}

/** Requests of the client that the second replica counted after those of the first one. */
async function countedBetween(one: Read, other: Read): Promise<number> {
  const { remaining: before } = await one('/healthz');
  const { remaining: after } = await other('/healthz');
  return Number(before) - Number(after);
}

async function hashOf(rpc: { call(method: string, ...params: unknown[]): Promise<unknown> }, number: string) {
  const block = await rpc.call('eth_getBlockByNumber', number, false);
  return typeof block === 'object' && block !== null && 'hash' in block ? block.hash : undefined;
}
