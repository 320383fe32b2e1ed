import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { encodeFunctionData, numberToHex, parseAbi } from 'viem';
import { expect, test } from 'vitest';
import { deriveAccounts } from '../../src/devnet/chain/accounts.ts';
import { httpRpc } from '../../src/devnet/chain/rpc.ts';
import { list, number, record, text } from '../support/json.ts';
import { until } from '../support/until.ts';
import { type Entry, programs } from './programs.ts';

const EMBEDDED = `
data: { listen: "127.0.0.1:0" }
payments: { listen: "127.0.0.1:0" }
admin: { listen: "127.0.0.1:0" }
devnet: { chains: 1, blocks: 45, trickle: 1s, seed: 1 }
`;
const PAYER = 7;
const ERC20 = parseAbi(['function transfer(address to, uint256 amount) returns (bool)']);

const { start } = programs();

function paymentsOf({ payments, nodes }: Entry) {
  const { url = '', key = '', create = '' } = payments ?? {};
  const node = nodes?.[0]?.url ?? '';
  const ask = async (path: string, body?: object): Promise<Record<string, unknown>> => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return record(await (await fetch(url + path, { headers, ...sent })).json());
  };
  return { url, key, create, node, ask };
}

test('the command of the log makes a link, and whoever pays it on the embedded chain completes a checkout', async () => {
  const program = await start(EMBEDDED);
  const { create, node, ask, url } = paymentsOf(await program.ready());

  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', create]);
  const link = record(JSON.parse(stdout));
  const page = await fetch(text(link.url));
  const session = await ask(`/api/v1/pay/links/${text(link.short_code)}/sessions`, {});
  const from = deriveAccounts().addresses[PAYER];
  const shop = text(session.recipient_address);
  const data = encodeFunctionData({
    abi: ERC20,
    functionName: 'transfer',
    args: [`0x${shop.slice(2)}`, BigInt(text(session.amount_due))],
  });
  const hash = await httpRpc(node).call('eth_sendTransaction', {
    from,
    to: text(record(session.token).address),
    data,
    gas: numberToHex(100_000),
    // The chain's base fee goes up to 40 gwei.
    maxFeePerGas: numberToHex(100n * 10n ** 9n),
    maxPriorityFeePerGas: numberToHex(10n ** 9n),
  });
  const state = await until(
    () => ask(`/api/v1/pay/sessions/${text(session.id)}/status`),
    ({ status }) => status === 'completed',
  );
  const events = await ask('/api/v1/events');
  const readiness = await fetch(`${url}/readyz`);

  expect(page.status).toBe(200);
  expect(state).toMatchObject({ status: 'completed', tx_hash: hash });
  expect(list(events.data).map(event => record(event).event)).toEqual([
    'checkout.completed',
    'payment.completed',
  ]);
  expect(number((await ask(`/api/v1/payment-links/${text(link.id)}`)).current_uses)).toBe(1);
  expect(readiness.status).toBe(200);
}, 60_000);

test('payments alone are served from the embedded chains, and no file holds the key', async () => {
  const program = await start(EMBEDDED, '--only', 'payments');
  const state = await program.entry(({ folder }) => folder !== undefined);
  const ready = await program.ready();
  const { key, ask } = paymentsOf(ready);

  const link = await ask('/api/v1/payment-links', { name: 'A' });
  const kept = readdirSync(state.folder ?? '').filter(name => name.startsWith('payments'));
  const holding = kept.filter(name => readFileSync(join(state.folder ?? '', name)).includes(key));
  program.child.kill('SIGTERM');
  const code = await program.exited;

  expect(ready.url).toBeUndefined();
  expect(link).toMatchObject({ object: 'payment_link', mode: 'test', chain_id: 31_337 });
  expect(kept).toEqual(expect.arrayContaining(['payments.db', 'payments.key']));
  expect(holding).toEqual([]);
  expect(code).toBe(0);
  expect(existsSync(state.folder ?? '')).toBe(false);
  expect(existsSync(join(program.folder, 'var'))).toBe(false);
}, 60_000);

test('with --only data there are no payments', async () => {
  const program = await start(EMBEDDED, '--only', 'data');

  const ready = await program.ready();

  expect(ready.payments).toBeUndefined();
  expect(program.log.filter(({ msg }) => msg === 'listening')).toHaveLength(2);
}, 60_000);

test('a chain of a file has its database and key where the file says, and no demo', async () => {
  const program = await start(
    `
data: { listen: "127.0.0.1:0" }
payments: { listen: "127.0.0.1:0", database: "sqlite:./kept/pay.db" }
admin: { listen: "127.0.0.1:0" }
chains:
  - id: 1
    name: Ethereum
    native: { symbol: ETH, decimals: 18 }
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
}, 60_000);

test('what it cannot have to start with is told in a line, and ends it with 1', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const taken = typeof address === 'object' && address !== null ? address.port : 0;
  const faults: [payments: string, message: RegExp][] = [
    [`listen: "127.0.0.1:${taken}"`, /^listen EADDRINUSE: address already in use 127\.0\.0\.1:\d+\n$/],
    [
      'listen: "127.0.0.1:0", database: "postgres://me:a-password@127.0.0.1:9/shop"',
      /^The payments database cannot be used: connect ECONNREFUSED 127\.0\.0\.1:9\n$/,
    ],
    [
      'listen: "127.0.0.1:0", secretKeyFile: ./tollgate.yaml',
      /^The secret key of payments cannot be used, and the database needs the key of fingerprint [\da-f]{8}: Everybody on this machine may use .*chmod 600 on it\.\n$/,
    ],
  ];

  for (const [payments, message] of faults) {
    const program = await start(
      `payments: { ${payments} }\nadmin: { listen: "127.0.0.1:0" }\nchains: [{ id: 1, name: Ethereum, native: { symbol: ETH, decimals: 18 }, rpc: ["http://127.0.0.1:9"] }]\n`,
      '--only',
      'payments',
    );

    expect(await once(program.child, 'close')).toEqual([1, null]);
    expect(program.errors()).toMatch(message);
  }
  other.close();
}, 60_000);
