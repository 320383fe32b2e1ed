import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseCommandLine } from '../../src/command/keys/command-line.ts';
import { linkDefaults } from '../../src/command/keys/link-terms.ts';
import { openDatabase } from '../../src/db/open.ts';
import { UsageError } from '../../src/lib/command-line.ts';
import { NATIVE_COIN, type PaymentChain } from '../../src/payments/model/payment-chain.ts';
import { organizationStore } from '../../src/payments/store/organization-store.ts';
import { tokenOf } from '../lab/dashboard-session.ts';
import { record } from '../lab/json.ts';
import { startTestPayments } from '../lab/payments-service.ts';
import { eachDatabase, urlOf } from '../support/databases.ts';
import { startGatedKeys } from '../support/gated-keys.ts';
import { script } from '../support/script.ts';

const RECIPIENT = '0x1F9840a85d5aF5bf1D1762F925BDADdC4201F984';
const USDC = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913';
const CONFIG = `
chains:
  - id: 8453
    name: Base
    native: { symbol: ETH, decimals: 18 }
    rpc: [http://127.0.0.1:9]
    backends: []
    tokens: [{ address: '${USDC}', symbol: USDC, decimals: 6 }]
payments: { database: 'sqlite:./kept/payments.db' }
`;

let folder: string;
let config: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keys-'));
  config = join(folder, 'tollgate.yaml');
  await writeFile(config, CONFIG);
});
afterAll(() => rm(folder, { recursive: true }));

const run = script('keys.ts', { cwd: () => folder });

eachDatabase('the command line', databases => {
  test('creates, lists and revokes keys in an empty database, and the service accepts them', async () => {
    const database = await databases.create();
    const at = ['--database', urlOf(database)];
    const organization = await run('create-org', 'My shop', '--tier', 'elevated', ...at);
    const test = await run('create', '--org', 'My shop', ...at);
    const options = [
      '--mode',
      'live',
      '--permission',
      'read',
      '--name',
      'Till',
      '--expires',
      '2099-01-01T00:00:00Z',
    ];
    const live = await run('create', '--org', organization.out.trim(), ...options, ...at);
    const list = await run('list', '--org', 'My shop', ...at);
    const all = await run('list', ...at);

    expect([organization, test, live, list, all].map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    expect(organization.out).toMatch(/^org_[0-9A-Za-z]{24}\n$/);
    expect(test.out).toMatch(/^tg_test_[0-9A-Za-z]{38}\n$/);
    expect(live.out).toMatch(/^tg_live_[0-9A-Za-z]{38}\n$/);
    expect(live.err).toMatch(/^This is the live key ak_\w{24} with the permission read\./);
    expect(all.out).toBe(`${organization.out.trim()}  elevated  My shop\n`);
    const [newest = '', oldest = '', ...more] = list.out.split('\n');
    expect(newest).toMatch(
      /^ak_\w{24} {2}live {2}read {3}tg_live_\w{5}…\w{4} {2}active until 2099-01-01T00:00:00.000Z {2}never used {2}Till$/,
    );
    expect(oldest).toMatch(/^ak_\w{24} {2}test {2}admin {2}tg_test_\w{5}…\w{4} {2}active {2}never used {2}/);
    expect(more).toEqual(['']);

    const [id = ''] = oldest.split(' ');
    await using service = await startGatedKeys({ database });
    const key = test.out.trim();
    const before = await service.send('GET', '/api/v1/api-keys', { key });
    const revoked = await run('revoke', id, ...at);
    const after = await service.send('GET', '/api/v1/api-keys', { key });
    const again = await run('revoke', id, ...at);

    expect([before.status, before.headers.get('x-ratelimit-limit')]).toEqual([200, '1200']);
    expect(revoked).toEqual({ code: 0, out: `${id}\n`, err: 'Revoked; it was a key of My shop.\n' });
    expect([after.status, again.code]).toEqual([401, 0]);
    expect((await run('list', '--org', 'My shop', ...at)).out).toContain('  revoked since 20');
  });
});

eachDatabase('owner-link', databases => {
  test('makes the first owner, and prints an address that signs the owner in until the next one is printed', async () => {
    const database = await databases.create();
    const at = ['--database', urlOf(database)];
    await run('create-org', 'My shop', ...at);

    const first = await run(
      'owner-link',
      '--org',
      'My shop',
      '--email',
      'Ada@books.example',
      '--name',
      'Ada',
      ...at,
    );
    const second = await run('owner-link', '--org', 'My shop', ...at);

    await using service = await startTestPayments(database, { demo: undefined });
    const signIn = async ({ out }: { out: string }) => {
      const answer = await fetch(`${service.url}/dashboard/session`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ token: tokenOf(out.trim()) }),
      });
      return [answer.status, record(await answer.json()).member];
    };
    expect(first.out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/dashboard#token=[\w-]{43}\n$/);
    expect(first.err).toContain(
      'It signs Ada <ada@books.example>, now an owner of My shop, in to the dashboard',
    );
    expect(second.err).toContain('an owner of My shop');
    expect(await signIn(first)).toEqual([401, undefined]);
    expect(await signIn(second)).toEqual([
      201,
      expect.objectContaining({ name: 'Ada', email: 'ada@books.example', role: 'owner' }),
    ]);
  });
});

test('reseal prints the number of moved values and the removable keys', async () => {
  const database = ['--database', `sqlite:${join(folder, 'resealed.db')}`];
  const keyFile = join(folder, 'resealed.key');
  const resealed = join(folder, 'resealed.yaml');
  await writeFile(resealed, CONFIG.replace('payments: {', `payments: { secretKeyFile: '${keyFile}',`));
  const [newer, older] = ['n'.repeat(32), 'o'.repeat(32)];
  await writeFile(keyFile, older, { mode: 0o600 });
  const first = await run('reseal', '--config', resealed, ...database);
  await writeFile(keyFile, `${newer}\n${older}\n`);

  const second = await run('reseal', '--config', resealed, ...database);
  await writeFile(keyFile, newer);
  const third = await run('reseal', '--config', resealed, ...database);
  const unknown = await run('reseal', '--abandon', '00000000', '--config', resealed, ...database);

  expect([first.code, second.code, third.code, unknown.code]).toEqual([0, 0, 0, 1]);
  expect(second.out).toMatch(/^0 values moved to the key of fingerprint [0-9a-f]{8}\n$/);
  expect(second.err).toMatch(
    /^The key of fingerprint [0-9a-f]{8} opens nothing any more and can be removed\.\n$/,
  );
  expect(unknown.err).toBe('the database needs no key of fingerprint 00000000\n');
});

const MODES = ['live', 'test'] as const;

describe('an organization', () => {
  test('keeps the defaults of its links: the token by symbol, addresses in lower case', async () => {
    const terms = ['--recipient', RECIPIENT, '--chain', '8453', '--token', 'usdc', '--config', config];

    const made = await run('create-org', 'With terms', ...terms);
    const twice = await run('create-org', 'With terms', '--config', config);

    expect([made.code, made.err]).toEqual([0, '']);
    expect(twice).toEqual({ code: 1, out: '', err: 'there is an organization With terms already\n' });
    // The database of the configuration, in a folder for its owner only.
    const db = openDatabase({ file: join(folder, 'kept', 'payments.db') });
    const organizationId = made.out.trim();
    const [live, test] = await Promise.all(
      MODES.map(mode => organizationStore(db).profile({ organizationId, mode })),
    );
    await db.destroy();
    const recipientAddress = RECIPIENT.toLowerCase();
    expect(live).toMatchObject({
      name: 'With terms',
      tier: 'standard',
      defaults: { chainId: 8453, tokenAddress: USDC, recipientAddress },
    });
    // The chain takes real money, so links for test money need another one.
    expect(test?.defaults).toEqual({ chainId: null, tokenAddress: null, recipientAddress });
    expect((await stat(join(folder, 'kept'))).mode & 0o077).toBe(0);
  });

  test('gets a hint that with embedded chains the service uses another database', async () => {
    const { code, err } = await run('list');

    expect(code).toBe(0);
    expect(err).toContain('Without configured chains');
  });
});

const CHAINS: readonly PaymentChain[] = [
  {
    id: 8453,
    name: 'Base',
    mode: 'live',
    tokens: [
      { address: NATIVE_COIN, symbol: 'ETH', decimals: 18 },
      { address: USDC, symbol: 'USDC', decimals: 6 },
      { address: `0x${'1'.repeat(40)}`, symbol: 'TWIN', decimals: 6 },
      { address: `0x${'2'.repeat(40)}`, symbol: 'TWIN', decimals: 6 },
    ],
    confirmations: 1,
    explorerUrl: undefined,
  },
];

describe('an invalid command', () => {
  test.each([
    [[], 'a command is missing'],
    [['make'], 'there is no command make'],
    [['create-org'], 'the name of the organization is missing'],
    [['create-org', 'My', 'shop'], 'a name with spaces needs quotes'],
    [['create-org', ' '], 'one line of 1 to 100 characters'],
    [['create-org', 'A', '--tier', 'gold'], '--tier takes standard or elevated'],
    [['create-org', 'A', '--mode', 'live'], 'create-org takes no --mode'],
    [['create-org', 'A', '--recipient', '0x12'], '--recipient takes an address'],
    [['create-org', 'A', '--recipient', `0x${'0'.repeat(40)}`], '--recipient takes an address'],
    [['create-org', 'A', '--chain', 'base'], '--chain takes the id'],
    [
      ['create-org', 'A', '--chain', '1'],
      'payments are not configured for chain 1; chains with rpc are 8453 (Base)',
    ],
    [['create-org', 'A', '--token', 'USDC'], '--token needs --chain'],
    [
      ['create-org', 'A', '--chain', '8453', '--token', 'DOGE'],
      'with a token DOGE, but with ETH, USDC, TWIN, TWIN',
    ],
    [['create-org', 'A', '--chain', '8453', '--token', RECIPIENT], 'is not configured with a token'],
    [
      ['create-org', 'A', '--chain', '8453', '--token', USDC, '--recipient', USDC],
      'is the contract of a token',
    ],
    [['create-org', 'A', '--chain', '8453', '--recipient', USDC], 'is the contract of a token'],
    [['create'], 'create needs --org'],
    [['owner-link'], 'owner-link needs --org'],
    [['owner-link', '--org', 'A', '--email', 'ada at books'], '--email takes one e-mail address'],
    [['create', '--org', 'A', '--permission', 'owner'], '--permission takes read or write or admin'],
    [['create', '--org', 'A', '--expires', '2020-01-01T00:00:00Z'], '--expires takes a moment in the future'],
    [['create', '--org', 'A', '--expires', '2099-01-01'], '--expires takes a moment in the future'],
    [['revoke'], 'the id of a key is missing'],
    [['reseal', 'now'], 'is one argument too many'],
    [['reseal', '--abandon', 'everything'], '--abandon takes the fingerprint of a key'],
    [['list', '--unknown'], "Unknown option '--unknown'"],
    [['create-org', 'A', '--chain', '8453', '--token', 'twin'], 'has more than one twin'],
  ])('is explained: %j', (args, message) => {
    const judged = () => {
      const command = parseCommandLine(args, Date.now())?.command;
      return command?.kind === 'create-org' ? linkDefaults(command.terms, CHAINS) : command;
    };

    expect(judged).toThrow(UsageError);
    expect(judged).toThrow(message);
  });

  test('exits with 2 and prints no result', async () => {
    const answers = await Promise.all([
      run('make', '--config', config),
      run('create-org', 'A', '--chain', '1', '--config', config),
      run('list', '--database', 'mysql://x'),
      run('list', '--config', 'missing.yaml'),
    ]);

    expect(answers.map(({ code, out }) => [code, out])).toEqual(Array(4).fill([2, '']));
    expect(answers.map(({ err }) => err)).toEqual([
      expect.stringContaining('there is no command make'),
      expect.stringContaining('payments are not configured for chain 1'),
      expect.stringContaining('--database takes sqlite:FILE or postgres://'),
      expect.stringContaining('the file cannot be read'),
    ]);
  });

  test('for a missing record exits with 1', async () => {
    const answers = [
      await run('create', '--org', 'Nobody', '--config', config),
      await run('list', '--org', 'Nobody', '--config', config),
      await run('revoke', 'ak_missing', '--config', config),
    ];

    expect(answers.map(({ code, out }) => [code, out])).toEqual(Array(3).fill([1, '']));
    expect(answers.map(({ err }) => err)).toEqual([
      'there is no organization Nobody; list shows all of them\n',
      'there is no organization Nobody; list shows all of them\n',
      'there is no key ak_missing\n',
    ]);
  });
});

test('an unusable database is reported in one line, without a stack trace', async () => {
  const file = join(folder, 'letter.txt');
  await writeFile(file, 'Dear reader, this is no database. '.repeat(40));

  const answers = [
    await run('list', '--config', config, '--database', `sqlite:${file}`),
    await run('list', '--config', config, '--database', 'postgres://me:a-password@127.0.0.1:9/shop'),
  ];

  expect(answers).toEqual([
    { code: 1, out: '', err: `The payments database ${file} cannot be used: file is not a database\n` },
    { code: 1, out: '', err: 'The payments database cannot be used: connect ECONNREFUSED 127.0.0.1:9\n' },
  ]);
});

test('--help shows every command', async () => {
  const { code, out } = await run('--help');

  expect(code).toBe(0);
  for (const command of ['create-org', 'create', 'list', 'revoke']) expect(out).toContain(`\n  ${command} `);
});
