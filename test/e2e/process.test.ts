import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixtureOf } from '../support/blockscout-fixtures.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { until } from '../support/until.ts';
import { programs } from './programs.ts';

const EMBEDDED = `
data: { listen: "127.0.0.1:0" }
payments: { listen: "127.0.0.1:0" }
admin: { listen: "127.0.0.1:0" }
devnet: { chains: 2, blocks: 45, trickle: 1s, seed: 1 }
`;

const { start, startByNpm, startWithin } = programs();

test('the embedded default serves both chains, and SIGTERM ends it with 0 and without a trace', async () => {
  const program = await start(EMBEDDED);
  const state = await program.entry(({ folder: path }) => path !== undefined);
  const ready = await program.ready();

  const chains: { chains: { id: number }[] } = JSON.parse(await (await fetch(`${ready.url}/chains`)).text());
  const first = await fetch(`${ready.url}/explorer/transactions`);
  const second = await fetch(`${ready.url}/explorer/transactions?chain_id=31338`);
  const readiness = await fetch(`${ready.url}/readyz`);
  program.child.kill('SIGTERM');
  const code = await program.exited;

  expect(chains.chains.map(({ id }) => id)).toEqual([31337, 31338]);
  expect(JSON.parse(await first.text()).items).toHaveLength(50);
  expect(first.headers.get('x-chain-id')).toBe('31337');
  expect(second.headers.get('x-chain-id')).toBe('31338');
  expect(readiness.status).toBe(200);
  expect(code).toBe(0);
  expect(existsSync(state.folder ?? '')).toBe(false);
  await expect(fetch(`${ready.url}/healthz`)).rejects.toThrow();
}, 40_000);

test('/readyz changes once while the embedded chains fill, from 503 to 200', async () => {
  const program = await start(EMBEDDED.replace('blocks: 45', 'blocks: 150').replace('1s', '50ms'));
  const { url } = await program.entry(({ msg }) => msg === 'listening');
  let left = Number.POSITIVE_INFINITY;
  const ready = program.ready().then(() => {
    left = 100;
  });

  const seen: number[] = [];
  while (left > 0) {
    const { status } = await fetch(`${url}/readyz`);
    if (status !== seen.at(-1)) seen.push(status);
    left -= 1;
    await delay(20);
  }
  await ready;

  expect(seen).toEqual([503, 200]);
}, 60_000);

test('SIGINT during the fill ends it with 0, too', async () => {
  const program = await start(EMBEDDED.replace('blocks: 45', 'blocks: 300'));
  const state = await program.entry(({ folder: path }) => path !== undefined);
  await program.entry(({ msg }) => msg === 'listening');

  program.child.kill('SIGINT');

  expect(await program.exited).toBe(0);
  expect(existsSync(state.folder ?? '')).toBe(false);
}, 40_000);

test('a flood of connections leaves enough files to go on indexing and to tell of it', async () => {
  const program = await startWithin(200, EMBEDDED.replace('chains: 2', 'chains: 1'));
  const { url } = await program.ready();
  const admin = program.log.findLast(({ msg }) => msg === 'listening');
  const metrics = async () => (await fetch(`${admin?.url}/metrics`)).text();
  const headIn = (text: string) => Number(/tollgate_index_head_block\{chain="31337"\} (\d+)/.exec(text)?.[1]);
  const before = headIn(await metrics());

  const port = Number(new URL(url ?? '').port);
  const flood = Array.from({ length: 400 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  const after = await until(metrics, text => headIn(text) >= before + 2 && text.includes('reason="total"'));
  for (const socket of flood) socket.destroy();

  expect(headIn(after)).toBeGreaterThanOrEqual(before + 2);
  expect(Number(/tollgate_http_connections\{listener="data"\} (\d+)/.exec(after)?.[1])).toBeLessThanOrEqual(
    100,
  );
  expect(after).toContain('tollgate_http_refused_connections_total{listener="data",reason="total"}');
  expect(JSON.stringify(program.log)).not.toContain('EMFILE');
}, 60_000);

test('SIGTERM to npm alone ends the server, too', async () => {
  const program = await startByNpm(EMBEDDED.replace('chains: 2', 'chains: 1'));
  const { url } = await program.ready();
  const state = await program.entry(({ folder: path }) => path !== undefined);

  program.child.kill('SIGTERM');
  await program.exited;

  const isGone = await until(
    async () => !existsSync(state.folder ?? ''),
    gone => gone,
  );
  expect(isGone).toBe(true);
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
}, 60_000);

describe('while it runs', () => {
  const { start: startOnce } = programs({ before: beforeAll, after: afterAll });
  let dataUrl: string | undefined;
  let adminUrl: string | undefined;

  beforeAll(async () => {
    const program = await startOnce(EMBEDDED.replace('chains: 2', 'chains: 1'));
    dataUrl = (await program.ready()).url;
    adminUrl = program.log.findLast(({ msg }) => msg === 'listening')?.url;
  });

  test('metrics are on the admin listener only', async () => {
    await fetch(`${dataUrl}/explorer/blocks`);

    const onAdmin = await fetch(`${adminUrl}/metrics`);
    const onData = await fetch(`${dataUrl}/metrics`);

    expect(await onAdmin.text()).toMatch(
      /tollgate_http_requests_total\{operation="listBlocks",status="200"\} 1/,
    );
    expect(onData.status).toBe(404);
  });

  test('the admin listener tells how far the chains of both services are, without an address', async () => {
    const text = await until(
      async () => (await fetch(`${adminUrl}/status`)).text(),
      answer => JSON.parse(answer).payments.chains[0].lag_blocks === 0,
    );
    const { data, payments } = JSON.parse(text);

    expect(data.chains).toMatchObject([
      { id: 31_337, backends: [{ name: 'index-31337', ready: true, head_block: expect.any(Number) }] },
    ]);
    expect(payments.chains).toMatchObject([
      {
        id: 31_337,
        node: '127.0.0.1',
        late: false,
        head_block: expect.any(Number),
        settled_block: expect.any(Number),
      },
    ]);
    expect(text).not.toMatch(/:\/\/|127\.0\.0\.1:/);
  });
});

test.each([
  ['an unknown key', 'data: { lisen: "127.0.0.1:0" }', /lisen.*did you mean/s],
  ['an address of no web server', CHAIN('{ kind: blockscout, url: "ftp://example.com" }'), /url/],
])('%s is named, and the process ends with 2 before it listens', async (_, config, message) => {
  const program = await start(config);

  expect(await program.exited).toBe(2);
  expect(program.errors()).toMatch(message);
  expect(program.log).toEqual([]);
});

test('a chain behind a Blockscout is served from a file, and the key reaches the instance only', async () => {
  const fixture = fixtureOf('getTransaction', 'v11');
  await using instance = await startScriptedUpstream(({ path }) =>
    path === fixture.path
      ? { text: fixture.text, type: 'application/json' }
      : { status: 404, json: { message: 'Not found' } },
  );
  const program = await start(CHAIN(`{ kind: blockscout, url: "${instance.url}", apiKey: "topsecret" }`));
  const { url } = await program.entry(
    ({ msg, url: address }) => msg === 'listening' && address !== undefined,
  );

  const answer = await fetch(`${url}/explorer${fixture.path}`);
  const text = await answer.text();
  program.child.kill('SIGTERM');

  expect([answer.status, answer.headers.get('x-backend')]).toEqual([200, 'blockscout-1']);
  expect(JSON.parse(text)).toMatchObject({ hash: fixture.path.split('/').at(-1) });
  expect(instance.requests.map(({ headers }) => headers['x-api-key'])).toContain('topsecret');
  expect(await program.exited).toBe(0);
  expect(text + JSON.stringify(program.log) + program.errors()).not.toContain('topsecret');
}, 40_000);

function CHAIN(backend: string): string {
  return `
data: { listen: "127.0.0.1:0" }
payments: { listen: "127.0.0.1:0" }
admin: { listen: "127.0.0.1:0" }
chains:
  - id: 1
    name: Ethereum
    native: { symbol: ETH, decimals: 18 }
    rpc: ["http://127.0.0.1:1"]
    confirmations: 12
    backends: [${backend}]
`;
}
