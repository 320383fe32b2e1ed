import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '#lib/clock.ts';
import { fixtureOf } from '../lab/blockscout-fixtures.ts';
import { faultyNode } from '../lab/faulty-node.ts';
import { startPaymentChain } from '../lab/payment-chain.ts';
import { startScriptedUpstream } from '../lab/scripted-upstream.ts';
import { until } from '../lab/until.ts';
import { ANY_PORTS, type Entry, ETHEREUM, programs } from './programs.ts';

const { start } = programs();

test('faults of a file are named, and the process exits with 2 before it listens', async () => {
  const program = await start(`
data: { lisen: "127.0.0.1:0" }
${ETHEREUM}
    rpc: ["http://127.0.0.1:1"]
    backends: [{ kind: blockscout, url: "ftp://example.com" }]
`);

  expect(await program.exited).toBe(2);
  expect(program.errors()).toMatch(/lisen.*did you mean/);
  expect(program.errors()).toMatch(/url/);
  expect(program.log).toEqual([]);
});

test('a configured Blockscout chain is served, and its key reaches only the instance', async () => {
  const fixture = fixtureOf('getTransaction', 'v11');
  await using instance = await startScriptedUpstream(({ path }) =>
    path === fixture.path
      ? { text: fixture.text, type: 'application/json' }
      : { status: 404, json: { message: 'Not found' } },
  );
  const program = await start(`
${ANY_PORTS}
${ETHEREUM}
    rpc: ["http://127.0.0.1:1"]
    confirmations: 12
    backends: [{ kind: blockscout, url: "${instance.url}", apiKey: "topsecret" }]
`);
  const { url } = await program.ready();

  const answer = await fetch(`${url}/explorer${fixture.path}`);
  const text = await answer.text();
  program.child.kill('SIGTERM');

  expect([answer.status, answer.headers.get('x-backend')]).toEqual([200, 'blockscout-1']);
  expect(JSON.parse(text)).toMatchObject({ hash: fixture.path.split('/').at(-1) });
  expect(instance.requests.map(({ headers }) => headers['x-api-key'])).toContain('topsecret');
  expect(await program.exited).toBe(0);
  expect(text + JSON.stringify(program.log) + program.errors()).not.toContain('topsecret');
});

test('with --only data no payments are served', async () => {
  const program = await start(
    `
${ANY_PORTS}
devnet: { chains: 1, blocks: 1, trickle: 1s }
`,
    '--only',
    'data',
  );

  const ready = await program.ready();

  expect(ready.payments).toBeUndefined();
  expect(program.log.filter(({ msg }) => msg === 'listening')).toHaveLength(2);
});

test('a reserve of the whole disk pauses a configured index, and no embedded one', async () => {
  const settings = `${ANY_PORTS}\ndiskReserve: 8000000GiB\n`;
  const configured = await start(
    `${settings}
${ETHEREUM}
    rpc: ["http://127.0.0.1:9"]
    backends: [{ kind: index, database: "sqlite:./index.db" }]
`,
    '--role',
    'indexer',
  );
  const paused = await configured.entry(({ msg }) => msg?.startsWith('index-1 does not write') === true);
  configured.child.kill('SIGTERM');

  const embedded = await start(`${settings}\ndevnet: { chains: 1, blocks: 1, trickle: 1s }\n`);
  const ready = await embedded.ready();
  embedded.child.kill('SIGTERM');

  expect(paused.msg).toMatch(/diskReserve keeps \d+ MB for payments$/);
  expect(ready.url).toMatch(/^http/);
  expect(await Promise.all([configured.exited, embedded.exited])).toEqual([0, 0]);
});

test('a configured chain has its database and key at the configured paths, and no demo', async () => {
  const program = await start(
    `
data: { listen: "127.0.0.1:0" }
payments: { listen: "127.0.0.1:0", database: "sqlite:./kept/pay.db" }
admin: { listen: "127.0.0.1:0" }
${ETHEREUM}
    rpc: ["http://127.0.0.1:9"]
    confirmations: 12
`,
    '--only',
    'payments',
  );

  const { payments } = await program.ready();
  const refused = await fetch(`${payments?.url}/api/v1/payment-links`);

  expect(Object.keys(payments ?? {})).toEqual(['url', 'docs']);
  expect(refused.status).toBe(401);
  const files = ['kept/pay.db', 'var/secret.key'].map(name => existsSync(join(program.folder, name)));
  expect(files).toEqual([true, true]);
});

test('a failed start is reported in one line, and exits with 1, or with 2 if a setting is at fault', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const taken = typeof address === 'object' && address !== null ? address.port : 0;
  const faults: [code: number, payments: string, message: RegExp][] = [
    [
      2,
      `listen: "127.0.0.1:${taken}"`,
      /^\/.+\.yaml, line 1, payments\.listen: It cannot listen on 127\.0\.0\.1:\d+: listen EADDRINUSE: address already in use 127\.0\.0\.1:\d+\n$/,
    ],
    [
      2,
      'listen: "127.0.0.1:0", database: "postgres://me:a-password@127.0.0.1:9/shop"',
      /^\/.+\.yaml, line 1, payments\.database: The payments database cannot be used: connect ECONNREFUSED 127\.0\.0\.1:9\n$/,
    ],
    [
      1,
      'listen: "127.0.0.1:0", secretKeyFile: ./tollgate.yaml',
      /^The secret key of payments cannot be used: All users of this machine can read .*chmod 600 on it\.\n$/,
    ],
  ];

  for (const [code, payments, message] of faults) {
    const program = await start(
      `payments: { ${payments} }\nadmin: { listen: "127.0.0.1:0" }\nchains: [{ id: 1, name: Ethereum, native: { symbol: ETH, decimals: 18 }, rpc: ["http://127.0.0.1:9"] }]\n`,
      '--only',
      'payments',
    );

    expect(await program.exited).toBe(code);
    expect(program.errors()).toMatch(message);
  }
  other.close();
});

test('an index with an unreachable database is named by its setting, and exits with 2', async () => {
  const program = await start(`
data: { listen: "127.0.0.1:0" }
admin: { listen: "127.0.0.1:0" }
${ETHEREUM}
    rpc: ["http://127.0.0.1:9"]
    backends:
      - { kind: index, database: "postgres://me:a-password@127.0.0.1:9/shop" }
`);

  expect(await program.exited).toBe(2);
  expect(program.errors()).toMatch(
    /^\/.+\.yaml, line 10, chains\[0\]\.backends\[0\]\.database: The index of chain 1 cannot be used: connect ECONNREFUSED 127\.0\.0\.1:9\n$/,
  );
});

test('embedded chains are served next to a chain whose node cannot be reached', async () => {
  const program = await start(`
${ANY_PORTS}
devnet: { chains: 1, blocks: 5, trickle: 0s, seed: 1 }
${ETHEREUM}
    rpc: ["http://127.0.0.1:9"]
    backends: [{ kind: index, database: "sqlite:./index.db" }]
`);

  const { url } = await program.ready();
  const [embedded, other] = await Promise.all(
    [31_337, 1].map(async id => (await fetch(`${url}/explorer/blocks?chain_id=${id}`)).status),
  );
  program.child.kill('SIGTERM');

  expect([embedded, other]).toEqual([200, 502]);
  expect(await program.exited).toBe(0);
});

test('a process that can serve nothing says so once, and is ready as soon as it can', async () => {
  await using chain = await startPaymentChain({ clock: systemClock });
  await using node = await faultyNode('http://127.0.0.1:9');
  const program = await start(`
${ANY_PORTS}
chains:
  - id: ${chain.chainId}
    name: Test chain
    native: { symbol: ETH, decimals: 18 }
    rpc: ["${node.url}"]
    backends: [{ kind: index, database: "sqlite:./index.db" }]
`);
  const isWaiting = ({ msg }: Entry) => msg === 'not ready yet';
  await program.entry(isWaiting);
  const before = node.requests;
  // The index asks about every second.
  await until(
    async () => node.requests,
    count => count >= before + 4,
  );
  const lines = program.log.filter(isWaiting);
  node.pointAt(chain.rpcUrl);
  const { url } = await program.ready();
  const { status } = await fetch(`${url}/readyz`);
  program.child.kill('SIGTERM');

  expect(lines).toMatchObject([{ states: ['chain 31337: nothing is indexed yet, being filled'] }]);
  expect(status).toBe(200);
  expect(await program.exited).toBe(0);
});

test('request lines can be disabled in the file, and failures are still logged', async () => {
  const program = await start(`
${ANY_PORTS}
log: { requests: errors }
${ETHEREUM}
    rpc: ["http://127.0.0.1:1"]
    backends: [{ kind: blockscout, url: "http://127.0.0.1:1" }]
`);
  const { url } = await program.ready();

  await fetch(`${url}/healthz`);
  await fetch(`${url}/explorer/nothing`);
  program.child.kill('SIGTERM');
  await program.exited;

  const lines = program.log.filter(({ msg }) => msg === 'request');
  expect(lines).toEqual([expect.objectContaining({ path: '/explorer/nothing', status: 404 })]);
});
