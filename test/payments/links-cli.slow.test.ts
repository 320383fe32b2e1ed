import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readLinksCommand } from '../../src/command/api/links.ts';
import { NATIVE_COIN } from '../../src/payments/model/payment-chain.ts';
import { record } from '../lab/json.ts';
import { startTestPayments, type TestPaymentsService, unreachableChain } from '../lab/payments-service.ts';
import { script } from '../support/script.ts';

const run = script('links.ts');
const TOKEN = `0x${'70'.repeat(20)}`;
const RECIPIENT = `0x${'ab'.repeat(20)}`;

let folder: string;
let service: TestPaymentsService;
let place: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'links-'));
  const tokens = [...unreachableChain.tokens, { address: TOKEN, symbol: 'USDC', decimals: 6 }];
  const chains = [
    { ...unreachableChain, tokens },
    { ...unreachableChain, tokens, id: 31_338 },
  ];
  service = await startTestPayments({ file: join(folder, 'payments.db') }, { chains });
  place = ['--url', service.url, '--key', service.demoKey ?? ''];
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

async function linkAt(address: string): Promise<Record<string, unknown>> {
  const headers = { Authorization: `Bearer ${service.demoKey}` };
  const code = address.trim().split('/').at(-1);
  const response = await fetch(`${service.url}/api/v1/payment-links?search=${code}`, { headers });
  const { data } = record(await response.json());
  return record(Array.isArray(data) ? data[0] : undefined);
}

test('a link needs only a name, and only its address is printed', async () => {
  const { code, out, err } = await run('create', ...place, '--name', 'Field notebooks');

  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/pay\/[0-9A-Za-z]{8}\n$/);
  expect((await fetch(out.trim())).status).toBe(200);
  expect(await linkAt(out)).toMatchObject({
    name: 'Field notebooks',
    amount: null,
    token_address: NATIVE_COIN,
  });
});

test('a token is named by its symbol, with the chain where several have it, and the server by TOLLGATE_URL', async () => {
  const at = { TOLLGATE_URL: service.url, TOLLGATE_KEY: service.demoKey ?? '' };
  const create = (...terms: string[]) =>
    script('links.ts', { env: at })('create', '--name', 'Pens', ...terms);

  const named = await create('--token', 'usdc', '--chain', '31338');
  const unclear = await create('--token', 'USDC');
  const unknown = await create('--token', 'DOGE');

  expect(named).toMatchObject({ code: 0, err: '' });
  expect(await linkAt(named.out)).toMatchObject({ token_address: TOKEN, chain_id: 31_338 });
  expect(unclear).toMatchObject({ code: 1, err: expect.stringContaining('name one by --chain') });
  expect(unknown).toMatchObject({ code: 1, err: 'No chain of this key takes DOGE.\n' });
});

test('every option reaches the link', async () => {
  const terms = ['--amount', '12500000', '--token', TOKEN, '--chain', '31338', '--recipient', RECIPIENT];

  const { out } = await run('create', ...place, '--name', 'Pencils', ...terms);

  expect(await linkAt(out)).toMatchObject({
    amount: '12500000',
    token_address: TOKEN,
    chain_id: 31_338,
    recipient_address: RECIPIENT,
  });
});

test('the list has every link, over all pages', async () => {
  const headers = { Authorization: `Bearer ${service.demoKey}`, 'Content-Type': 'application/json' };
  for (let index = 0; index < 101; index++) {
    const body = JSON.stringify({ name: `Number ${index}` });
    await fetch(`${service.url}/api/v1/payment-links`, { method: 'POST', headers, body });
  }

  const { code, out } = await run('list', ...place);

  const lines = out.trim().split('\n');
  expect(code).toBe(0);
  expect(lines.filter(line => line.includes('  Number '))).toHaveLength(101);
  expect(lines.some(line => line.endsWith(`  ${NATIVE_COIN}  31337  Number 7`))).toBe(true);
});

test('a refusal of the server is printed with code and message, and exits with 1', async () => {
  const amount = await run('create', ...place, '--name', 'A', '--amount', '1.5');
  const key = await run('list', '--url', service.url, '--key', 'tg_test_wrong');

  expect(amount).toEqual({
    code: 1,
    out: '',
    err: expect.stringMatching(/^invalid_field_value: .*amount.*\n$/),
  });
  expect(key).toEqual({ code: 1, out: '', err: expect.stringMatching(/^key_invalid: .+\n$/) });
});

test('the key is read from the environment, unless it is an argument', async () => {
  const withKey = (key: string) => script('links.ts', { env: { TOLLGATE_KEY: key } });
  const server = ['--url', service.url];

  const known = await withKey(service.demoKey ?? '')('list', ...server);
  const wrong = await withKey('tg_test_wrong')('list', ...server);
  const argument = await withKey('tg_test_wrong')('list', ...place);

  expect([known.code, wrong.code, argument.code]).toEqual([0, 1, 0]);
});

test('an unreachable or foreign server is named in the error, without the key', async () => {
  const other: Server = createServer(({ method }, response) =>
    response.end(method === 'POST' ? '{}' : '<html>'),
  ).listen(0, '127.0.0.1');
  await new Promise(resolve => other.once('listening', resolve));
  const address = other.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;

  const wrong = await run('list', '--url', url, '--key', 'topsecret');
  const strange = await run('create', '--url', url, '--key', 'topsecret', '--name', 'A');
  await new Promise(resolve => other.close(resolve));
  const gone = await run('list', '--url', url, '--key', 'topsecret');

  for (const { code, out, err } of [wrong, strange, gone]) {
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(`${url} does not answer as a payments server`);
    expect(err).not.toContain('topsecret');
  }
});

test.each([
  [['create', '--name', 'A'], 'the API key is missing'],
  [['create', '--key', 'K'], '--name is missing'],
  [['create', '--key', 'K', '--name', 'A', '--chain', 'base'], '--chain takes the id'],
  [['create', '--key', 'K', '--name', 'A', '--url', 'ftp://x'], '--url takes the address'],
  [['create', '--key', 'K', '--name', 'A', '--colour', 'red'], 'colour'],
  [['list', '--key', 'K', '--name', 'A'], '--name is not for list'],
  [['remove', '--key', 'K'], 'name a command: create or list'],
  [[], 'name a command: create or list'],
])('%j is refused with a reason', (args, message) => {
  expect(() => readLinksCommand(args)).toThrow(message);
});

test('an invalid command points to the help and exits with 2', async () => {
  const { code, out, err } = await run('create', '--name', 'A');

  expect([code, out]).toEqual([2, '']);
  expect(err).toContain('the API key is missing');
  expect(err).toContain('"tollgate links --help" shows the options.');
});

test('help is printed on request', async () => {
  const { code, out } = await run('--help');

  expect([code, out]).toEqual([0, expect.stringContaining('Usage:')]);
});
