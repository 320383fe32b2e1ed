import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { endingOf } from '#command/doctor/back-end-check.ts';
import { runCheck } from '#command/doctor/check.ts';
import { redisCheck } from '#command/doctor/redis-check.ts';
import { openDatabase } from '#db/open.ts';
import { httpRpc } from '#devnet/chain/rpc.ts';
import { isObject } from '#lib/json.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { secretKeyStore } from '#payments/secrets/secret-key-store.ts';
import { startDepositChain } from '../deposits/deposit-chain.ts';
import { startNodeProxy } from '../indexer/node-proxy.ts';
import { fixtureOf } from '../lab/blockscout-fixtures.ts';
import { startBotApi } from '../lab/bot-api.ts';
import { CHAIN_KINDS } from '../lab/chain-kind.ts';
import { startTestDevnet, type TestDevnet } from '../lab/devnet.ts';
import { type FaultyNode, faultyNode } from '../lab/faulty-node.ts';
import { record } from '../lab/json.ts';
import { freePort } from '../lab/loopback-server.ts';
import { startPaymentChain } from '../lab/payment-chain.ts';
import { startTestPayments } from '../lab/payments-service.ts';
import { startPgBouncer } from '../lab/pgbouncer.ts';
import { startOwnRedis } from '../lab/redis.ts';
import { type Behaviour, startScriptedUpstream } from '../lab/scripted-upstream.ts';
import { PATIENCE_MS } from '../lab/until.ts';
import { postgresDatabase, sqliteDatabase, urlOf } from '../support/databases.ts';
import { manualClock } from '../support/manual-clock.ts';
import { startSmtpReceiver } from '../support/smtp-receiver.ts';

let devnet: TestDevnet;
let rpc: string;
beforeAll(async () => {
  devnet = await startTestDevnet({ blocks: 25, endTime: Date.now() });
  rpc = devnet.chains[0]?.rpcUrl ?? '';
});
afterAll(() => devnet.stop());

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doctor-'));
  onTestFinished(() => rm(folder, { recursive: true }));
});

interface ReportedCheck {
  readonly setting: string;
  readonly line: number | null;
  readonly state: string;
  readonly subject: string;
  readonly detail: string;
  readonly advice?: string;
}

async function doctor(config: string, ...more: string[]) {
  const file = join(folder, 'tollgate.yaml');
  await writeFile(file, config);
  return run('doctor', '--config', file, ...more);
}

function run(...args: string[]) {
  const { promise, resolve } = Promise.withResolvers<{ code: unknown; out: string; err: string }>();
  execFile(process.execPath, ['src/tollgate.js', ...args], { timeout: PATIENCE_MS }, (error, out, err) =>
    resolve({ code: error === null ? 0 : error.code, out, err }),
  );
  return promise;
}

/** Without the addresses that the process listens on, which another process of this machine may use. */
function ofOthers(checks: Record<string, ReportedCheck>): Record<string, ReportedCheck> {
  return Object.fromEntries(Object.entries(checks).filter(([setting]) => !setting.endsWith('.listen')));
}

/** The checks of a report by setting. */
function bySetting(out: string): Record<string, ReportedCheck> {
  const { checks }: { checks: ReportedCheck[] } = JSON.parse(out);
  return Object.fromEntries(checks.map(check => [check.setting, check]));
}

const chain = (id: number, rest: string) => `
chains:
  - id: ${id}
    name: Testnet
    native: { symbol: ETH, decimals: 18 }
${rest}`;

/** A Blockscout and an Insight-compatible service at one address, both with a recent block. */
function upToDate({ url }: { url: string }): Behaviour {
  if (url.startsWith('/v1')) {
    const seconds = Math.floor(Date.now() / 1000);
    const text = readFileSync('test/fixtures/insight/queryBlocks/2025-07.json', 'utf8');
    const ofChain = text
      .replace('"chain_id": "1"', '"chain_id": "31337"')
      .replace(/("chain_ids": \[\s*)1/, (_, start: string) => `${start}31337`);
    const now = ofChain.replace(/("block_timestamp": )\d+/, `$1${seconds}`);
    return { text: now, type: 'application/json' };
  }
  const now = new Date().toISOString().replace('Z', '000Z');
  const { text } = fixtureOf('listMainPageBlocks', 'v11');
  return { text: text.replace(/"timestamp":"[^"]+"/g, `"timestamp":"${now}"`), type: 'application/json' };
}

test('a working configuration is reported line by line in the order of the file, and nothing is created', async () => {
  const database = await postgresDatabase('payments');
  onTestFinished(database.remove);
  // Another database, because that of a service needs its key.
  const served = await postgresDatabase('payments');
  onTestFinished(served.remove);
  await using service = await startTestPayments(served.options);
  await using upstream = await startScriptedUpstream(upToDate);
  await using smtp = await startSmtpReceiver();
  await using bot = await startBotApi();
  await using redis = await startOwnRedis();
  const config = `data:
  listen: 127.0.0.1:0
  publicUrl: ${service.url}
  cache: { store: '${redis.url}' }
admin: { listen: '127.0.0.1:0' }
payments:
  listen: '127.0.0.1:0'
  publicUrl: ${service.url}
  secretKeyFile: ./new/secret.key
  database: ${urlOf(database.options)}
  mail: { smtp: '${smtp.url}', from: shop@example.com }
  messenger: { token: '${bot.token}', apiRoot: '${bot.url}', mode: polling }
rateLimitStore: ${redis.url}${chain(
    31_337,
    `    rpc: ['${rpc}']
    backends:
      - { kind: index, database: 'sqlite:./new/index.db' }
      - { kind: blockscout, url: '${upstream.url}' }
      - { kind: insight, url: '${upstream.url.replace('/api/v2', '/v1')}' }`,
  )}
diskReserve: 0B
`;

  const { code, out, err } = await doctor(config);

  expect([code, err]).toEqual([0, '']);
  const lines = out.trimEnd().split('\n');
  expect(lines.map(line => /^ok +line (\d+), ([^:]+):/.exec(line)?.slice(1, 3).join(' '))).toEqual([
    '2 data.listen',
    '3 data.publicUrl',
    '4 data.cache.store',
    '5 admin.listen',
    '7 payments.listen',
    '8 payments.publicUrl',
    '9 payments.secretKeyFile',
    '10 payments.database',
    '11 payments.mail.smtp',
    '12 payments.messenger.token',
    '13 rateLimitStore',
    '15 chains[0].tokens',
    '18 chains[0].rpc[0]',
    '20 chains[0].backends[0].database',
    '21 chains[0].backends[1].url',
    '22 chains[0].backends[2].url',
    undefined,
  ]);
  expect(out).toMatch(
    /serves chain 31337, head \d+ s old, newest block proven \(consistent with one node\), receipts by block, traces by trace_block, logs of 500 blocks/,
  );
  expect(lines.at(-1)).toBe(`${join(folder, 'tollgate.yaml')}: 16 checked, 0 faults, 0 warnings`);
  expect(await readdir(folder)).toEqual(['tollgate.yaml']);
  expect(smtp.mails).toEqual([]);
});

test('an index or cache whose disk has less space than the reserve is a warning, and payments are not', async () => {
  const { code, out } = await doctor(
    `
data: { cache: { store: 'sqlite:./cache.db' } }
payments: { database: 'sqlite:./pay.db' }
diskReserve: 8000000GiB${chain(
      31_337,
      `    rpc: ['${rpc}']
    backends: [{ kind: index, database: 'sqlite:./new/index.db' }]`,
    )}`,
    '--json',
  );

  const { 'payments.database': payments, ...checks } = bySetting(out);
  expect(code).toBe(0);
  expect(payments).toMatchObject({ state: 'ok' });
  for (const setting of ['data.cache.store', 'chains[0].backends[0].database'])
    expect(checks[setting]).toMatchObject({
      state: 'warning',
      detail: expect.stringMatching(/ its disk has \d+ MB free, and diskReserve keeps \d+ MB for payments$/),
      advice: 'Free some space, or lower diskReserve.',
    });
});

test.for([
  ['findings', 'warning', /^Payments are completed without a proof: the fields of the header/],
  ["'off'", 'ok', undefined],
] as const)(
  'a payments chain whose blocks cannot be recomputed, with prove: %s, is %s',
  async ([prove, state, advice]) => {
    await using node = await faultyNode(rpc);
    node.tell(({ method }, answer) =>
      method === 'eth_getBlockByNumber' ? { ...record(answer), mixHash: `0x${'11'.repeat(32)}` } : undefined,
    );

    const { out } = await doctor(chain(31_337, `    prove: ${prove}\n    rpc: ['${node.url}']`), '--json');

    const found = bySetting(out)['chains[0].rpc[0]'];
    expect(found).toMatchObject({ state });
    if (advice !== undefined) expect(found).toMatchObject({ advice: expect.stringMatching(advice) });
  },
);

test('only the secrets of a URL are hidden, not the user', async () => {
  const database = await postgresDatabase();
  onTestFinished(database.remove);
  const address = database.options.url.replace('postgres@', 'tollgate_shop:db-password@');

  const { out } = await doctor(`
payments: { database: '${address}&sslmode=disable' }${chain(
    31337,
    "    rpc: ['http://127.0.0.1:9/?plan=payments&apikey=node-key']",
  )}`);

  expect(out).toContain('payments database (PostgreSQL at localhost): role "tollgate_shop" does not exist');
  expect(out).not.toMatch(/db-password|node-key/);
});

test('every kind of fault is reported with advice and without secrets, and exits with 1', async () => {
  const database = await postgresDatabase('payments');
  onTestFinished(database.remove);
  await using service = await startTestPayments(database.options);
  await using node = await lying(rpc, /^eth_getLogs$/);
  await using poor = await lying(rpc, /^(trace|debug)_/);
  await using stale = await faultyNode(rpc);
  stale.tell(({ method, params = [] }, answer) => {
    if (method === 'eth_chainId') return '0x2105';
    if (method === 'eth_getBlockByNumber') return { ...record(answer), timestamp: '0x65a00000' };
    const { fromBlock, toBlock } = method === 'eth_getLogs' ? record(params[0]) : {};
    return Number(toBlock) - Number(fromBlock) >= 10 ? new Error('at most 10 blocks') : undefined;
  });
  await using upstream = await startScriptedUpstream(({ url }) =>
    url === '/healthz' ? { status: 502, text: 'Bad Gateway' } : { status: 401, json: {} },
  );
  await using bot = await startBotApi();
  await using redis = await startOwnRedis({ password: 'redis-secret' });
  const [closed, other] = [await freePort(), await freePort()];
  await writeFile(join(folder, 'letter.txt'), 'Dear reader, this is no database. '.repeat(40));
  const config = `data:
  listen: 127.0.0.1:${other}
  publicUrl: http://127.0.0.1:${closed}
  cache: { store: 'redis://127.0.0.1:${redis.port}' }
payments:
  listen: ${new URL(service.url).host}
  publicUrl: ${upstream.url.replace('/api/v2', '')}
  database: postgres://me:a-password@127.0.0.1:${closed}/shop
  mail: { smtp: 'smtp://me:mail-secret@127.0.0.1:${closed}', from: shop@example.com }
  messenger: { token: '123456:wrong-token', apiRoot: '${bot.url}', mode: polling }
rateLimitStore: redis://:limits-secret@127.0.0.1:${closed}${chain(
    8453,
    `    rpc: ['${rpc}', 'http://127.0.0.1:${closed}/v2/node-secret-of-32-characters-abc', '${node.url}', '${poor.url}', '${stale.url}']
    backends:
      - { kind: index, database: 'sqlite:./letter.txt' }
      - { kind: blockscout, url: '${upstream.url}', apiKey: blockscout-secret }
      - { kind: insight, url: 'http://127.0.0.1:${closed}/v1', clientId: insight-secret }`,
  )}`;

  const { code, out, err } = await doctor(config, '--json');

  expect([code, err]).toEqual([1, '']);
  const told = Object.fromEntries(
    Object.entries(ofOthers(bySetting(out))).map(([setting, { state, detail }]) => [
      setting,
      `${state}: ${detail}`,
    ]),
  );
  expect(told).toEqual({
    'payments.secretKeyFile': 'ok: does not exist yet; the first start creates it',
    'data.publicUrl': expect.stringMatching(
      /^warning: cannot be reached \(ECONNREFUSED\), and no server runs at/,
    ),
    'data.cache.store': 'fault: asks for a password',
    'payments.publicUrl': 'fault: answers with status 502',
    'payments.database': expect.stringMatching(/^fault: .*ECONNREFUSED/),
    'payments.mail.smtp': expect.stringMatching(
      /^fault: .*ECONNREFUSED|^fault: .*ESOCKET|^fault: The mail server/,
    ),
    'payments.messenger.token': expect.stringMatching(/^fault: The messenger answered 401/),
    rateLimitStore: expect.stringMatching(/^fault: .*ECONNREFUSED/),
    'chains[0].tokens': 'ok: are taken in ETH, for real money',
    'chains[0].rpc[0]': 'fault: serves chain 31337, but 8453 is configured',
    'chains[0].rpc[1]': expect.stringMatching(/^fault: .*ECONNREFUSED/),
    'chains[0].rpc[2]': 'fault: refuses eth_getLogs',
    'chains[0].rpc[3]': expect.stringMatching(/^warning: serves chain 8453, .*no traces/),
    'chains[0].rpc[4]': expect.stringMatching(
      /^warning: .*head \d+ days old, .*logs of 10 blocks at once, deposit factory version 1 \(not used\)$/,
    ),
    'chains[0].backends[0].database': expect.stringMatching(/^fault: .*file is not a database/),
    'chains[0].backends[1].url': 'fault: answers with status 401',
    'chains[0].backends[2].url': expect.stringMatching(/^fault: .*ECONNREFUSED/),
  });
  const withoutAdvice = Object.values(bySetting(out)).filter(({ advice }) => advice === undefined);
  expect(withoutAdvice.filter(({ state }) => state !== 'ok')).toEqual([]);
  expect(out).not.toMatch(/-secret|a-password|wrong-token/);
});

/** The node with the chain id 8453, which refuses some methods. */
async function lying(url: string, refused: RegExp): Promise<FaultyNode> {
  const node = await faultyNode(url);
  node.tell(({ method }) => {
    if (method === 'eth_chainId') return '0x2105';
    return refused.test(method) ? new Error('the method is not available') : undefined;
  });
  return node;
}

test('the deposit factory of a chain is checked where it is deployed, and not mentioned elsewhere', async () => {
  await using deposits = await startDepositChain(CHAIN_KINDS[0]);
  await using plain = await startPaymentChain({ clock: manualClock() });
  await using node = await faultyNode(deposits.rpcUrl);
  node.tell(({ method }) => (method === 'eth_getCode' ? '0x00' : undefined));
  const nodes = (setting: string) =>
    chain(31_337, `${setting}\n    rpc: ['${plain.rpcUrl}', '${deposits.rpcUrl}', '${node.url}']`);
  const accepted = '    depositAddresses: { acceptUnaudited: true, maxUnswept: { ETH: "1" } }';

  const off = await doctor(nodes(''), '--json', '--role', 'settlement');
  const on = await doctor(nodes(accepted), '--json', '--role', 'payments');
  const tested = await doctor(nodes('    testnet: true'), '--json', '--role', 'payments');
  const elsewhere = await doctor(nodes(accepted), '--json', '--role', 'data');

  const broken = {
    state: 'warning',
    detail: expect.stringMatching(/, deposit factory at 0x\w{40} has other code$/),
    advice: expect.stringContaining('Use no deposit addresses on this chain'),
  };
  const command = 'no deposit factory (tollgate deposit-factory deploy --chain 31337)';
  const [unused, used, ofTestnet] = [off, on, tested].map(({ out }) => bySetting(out));
  expect(unused?.['chains[0].rpc[0]']?.detail).not.toContain('deposit');
  expect(unused?.['chains[0].rpc[1]']?.detail).toMatch(/, deposit factory version 1 \(not used\)$/);
  expect(unused?.['chains[0].rpc[2]']).toMatchObject(broken);
  expect(used?.['chains[0].rpc[0]']).toMatchObject({
    state: 'warning',
    detail: expect.stringContaining(command),
    advice: expect.stringContaining('Checkouts ask for exact amounts until the deposit factory is deployed.'),
  });
  expect(used?.['chains[0].rpc[1]']?.detail).toContain(
    'deposit factory version 1 (its contracts are not audited)',
  );
  expect(used?.['chains[0].rpc[2]']).toMatchObject(broken);
  expect(ofTestnet?.['chains[0].rpc[0]']).toMatchObject({ detail: expect.stringContaining(command) });
  expect(ofTestnet?.['chains[0].rpc[0]']?.advice ?? '').not.toContain('exact amounts');
  expect(elsewhere.out).not.toContain('deposit');
});

test('which chains take payments is said, and why others do not', async () => {
  const [token] = devnet.chains[0]?.tokens ?? [];
  const tokens = (address = token?.address, decimals = token?.decimals) =>
    `    rpc: ['${rpc}']\n    tokens: [{ address: '${address}', symbol: USDS, decimals: ${decimals} }]\n`;
  const noToken = `0x${'ab'.repeat(20)}` as const;
  const withoutNode = `  - id: 10
    name: OP Mainnet
    native: { symbol: ETH, decimals: 18 }
    backends: [{ kind: blockscout, url: 'http://127.0.0.1:9' }]`;

  const checked = async (rest: string) =>
    bySetting((await doctor(chain(31_337, rest), '--json', '--role', 'settlement')).out);
  const right = await checked(`${tokens()}    testnet: true\n${withoutNode}`);
  const decimals = await checked(tokens(undefined, 18));
  const address = await checked(tokens(noToken, 6));

  expect(right['chains[0].tokens']).toMatchObject({
    state: 'ok',
    detail: 'are taken in ETH, USDS, for test money',
  });
  expect(right['chains[1]']).toMatchObject({
    state: 'ok',
    subject: 'payments on OP Mainnet',
    detail: 'are not taken, because it has no node (rpc)',
  });
  const advice = expect.stringContaining('Correct the address or the decimals');
  expect(decimals['chains[0].tokens']).toMatchObject({
    state: 'fault',
    detail: 'cannot be taken in USDS: it has 6 decimals, not 18',
    advice,
  });
  expect(address['chains[0].tokens']).toMatchObject({
    state: 'fault',
    detail: `cannot be taken in USDS: ${noToken} is no token`,
    advice,
  });
});

test('a taken address, a key that all can read, and a pool beyond the server are reported', async () => {
  const database = await postgresDatabase();
  onTestFinished(() => database.remove());
  const other = createServer((_, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const address = other.address();
  const listen = `127.0.0.1:${typeof address === 'object' ? address?.port : undefined}`;
  const keyFile = join(folder, 'secret.key');
  await writeFile(keyFile, 'k'.repeat(40), { mode: 0o644 });

  const { code, out } = await doctor(
    `admin: { listen: "${listen}" }
payments: { secretKeyFile: "${keyFile}", database: "${database.options.url}", postgres: { pool: 500 } }`,
    '--json',
  );
  const checks = bySetting(out);

  expect(code).toBe(1);
  expect(checks['admin.listen']).toMatchObject({
    line: 1,
    state: 'fault',
    detail: 'is in use by another program',
    advice: 'End that program, or choose another port.',
  });
  expect(checks['payments.secretKeyFile']).toMatchObject({
    line: 2,
    state: 'fault',
    detail: expect.stringContaining('chmod 600'),
  });
  expect(checks['payments.database']).toMatchObject({
    state: 'warning',
    detail: expect.stringContaining('its pool of 500 exceeds the 200 connections of the server'),
  });
});

test('a key file that the database needs is reported when it is missing or another one', async () => {
  const database = await sqliteDatabase('payments');
  onTestFinished(() => database.remove());
  const [lost, other] = ['l', 'o'].map(letter => letter.repeat(40));
  const db = openDatabase(database.options);
  await secretKeyStore(db).add(seals([lost ?? '']));
  await db.destroy();
  const keyFile = join(folder, 'secret.key');
  const reported = async () => {
    const { out } = await doctor(
      `payments: { secretKeyFile: "${keyFile}", database: "${urlOf(database.options)}" }`,
      '--json',
    );
    return bySetting(out)['payments.secretKeyFile'];
  };

  const missing = await reported();
  await writeFile(keyFile, other ?? '', { mode: 0o600 });
  const wrong = await reported();
  await writeFile(keyFile, `${other}\n${lost}\n`);
  const right = await reported();

  const [id] = seals([lost ?? '']).keyIds;
  expect(missing).toMatchObject({
    line: 1,
    state: 'fault',
    detail: `is missing, and the payments database needs the key of fingerprint ${id}`,
    advice: 'Restore it from its backup.',
  });
  expect(wrong).toMatchObject({
    state: 'fault',
    detail: `has other keys, and the payments database needs the key of fingerprint ${id}`,
  });
  expect(right).toMatchObject({ state: 'ok' });
});

test('several hosts of a database are named without the password, of which one must be writable', async () => {
  const database = await postgresDatabase();
  onTestFinished(() => database.remove());
  const server = new URL(database.options.url);
  const socket = encodeURIComponent(server.searchParams.get('host') ?? '');
  const reported = async (hosts: string) => {
    const address = `postgres://postgres:db-password@${hosts}${server.pathname}`;
    const { out } = await doctor(`payments: { database: "${address}" }`, '--json');
    expect(out).not.toContain('db-password');
    return bySetting(out)['payments.database'];
  };

  const found = await reported(`127.0.0.1:${await freePort()},${socket}`);
  const none = await reported(`127.0.0.1:${await freePort()},127.0.0.1:${await freePort()}`);

  expect(found).toMatchObject({
    state: 'ok',
    subject: expect.stringMatching(/^payments database \(PostgreSQL at 127\.0\.0\.1:\d+, /),
  });
  expect(none).toMatchObject({
    state: 'fault',
    detail: expect.stringMatching(/ECONNREFUSED.+; .+ECONNREFUSED/),
  });
});

test('a pooler is reported, and refused where it cannot work, in doctor and at the start', async () => {
  const database = await postgresDatabase();
  onTestFinished(() => database.remove());
  await using pooler = await startPgBouncer(database.options.url);
  await using byStatement = await startPgBouncer(database.options.url, { mode: 'statement' });
  const reported = async (url: string, listenUrl?: string) => {
    const { out } = await doctor(
      `payments: { database: "${url}", postgres: { ${listenUrl === undefined ? '' : `listenUrl: "${listenUrl}"`} } }`,
      '--json',
    );
    const { state, detail } = bySetting(out)['payments.database'] ?? {};
    return [state, detail];
  };

  expect(await reported(pooler.url, database.options.url)).toEqual([
    'ok',
    expect.stringContaining('is empty'),
  ]);
  expect(await reported(pooler.url)).toEqual(['warning', expect.stringContaining('processes poll for work')]);
  expect(await reported(pooler.url, pooler.url)).toEqual([
    'fault',
    expect.stringMatching(/; listenUrl leads through a pooler, which delivers no notifications$/),
  ]);
  const refusal = 'must pool by transaction or by session';
  expect(await reported(byStatement.url)).toEqual(['fault', expect.stringContaining(refusal)]);
  const started = await run('migrate', '--config', join(folder, 'tollgate.yaml'));
  expect([started.code, started.err]).toEqual([2, expect.stringContaining(refusal)]);
});

test('only what the roles of a process need is checked', async () => {
  const closed = await freePort();
  const config = `roles: [data, indexer]
payments:
  database: postgres://127.0.0.1:${closed}/shop
  mail: { smtp: 'smtp://127.0.0.1:${closed}', from: shop@example.com }${chain(
    31_337,
    `    rpc: ['${rpc}']
    backends:
      - { kind: index, database: 'sqlite:./new/index.db' }
      - { kind: blockscout, url: 'http://127.0.0.1:${closed}/api/v2' }`,
  )}`;

  const ofFile = await doctor(config, '--json');
  const ofIndexer = await doctor(config, '--json', '--role', 'indexer');

  const needed = ['chains[0].rpc[0]', 'chains[0].backends[0].database'];
  expect([ofFile.code, Object.keys(ofOthers(bySetting(ofFile.out)))]).toEqual([
    1,
    [...needed, 'chains[0].backends[1].url'],
  ]);
  expect([ofIndexer.code, Object.keys(ofOthers(bySetting(ofIndexer.out)))]).toEqual([0, needed]);
});

test('a check without an answer fails after its timeout', async () => {
  const check = { setting: 'x', subject: 'x', advice: 'Wait.', run: () => new Promise<never>(() => {}) };

  expect(await runCheck(check, 10)).toEqual({
    state: 'fault',
    detail: 'does not answer within 0.01 s',
    advice: 'Wait.',
  });
});

test('an invalid configuration exits with 2', async () => {
  const invalid = await doctor('chains: 1\n');

  expect([invalid.code, invalid.out]).toEqual([2, '']);
  expect(invalid.err).toContain('line 1');
});

test('without a configuration the needs of the embedded default are checked', async () => {
  const { out } = await run('doctor', '--json');

  const { devnet, ...others } = bySetting(out);
  expect(devnet).toMatchObject({ state: 'ok', detail: expect.stringMatching(/^run on (anvil|edr)$/) });
  expect(Object.keys(others).sort()).toEqual(['admin.listen', 'data.listen', 'payments.listen']);
});

test('a node whose newest block alone does not fit its hash is a fault, and a chain of unknown rules a warning', async () => {
  const head = Number(await httpRpc(rpc).call('eth_blockNumber'));
  const checkOf = async (isWrong: (block: number) => boolean) => {
    const node = await startNodeProxy(rpc, {
      change: (method, result) =>
        method === 'eth_getBlockReceipts' && Array.isArray(result)
          ? result
              .filter(isObject)
              .map(one => (isWrong(Number(one.blockNumber)) ? { ...one, cumulativeGasUsed: '0x1' } : one))
          : result,
    });
    onTestFinished(() => node.stop());
    const backends = `    rpc: ['${node.rpcUrl}']\n    backends: [{ kind: index, database: 'sqlite:./index.db' }]`;
    const { out } = await doctor(chain(31_337, backends), '--json');
    return bySetting(out)['chains[0].rpc[0]'];
  };

  expect(await checkOf(block => block === head)).toMatchObject({
    state: 'fault',
    detail: expect.stringContaining(`contradicts the hash of block ${head}: the receipts`),
  });
  expect(await checkOf(() => true)).toMatchObject({
    state: 'warning',
    detail: expect.stringContaining('newest block not proven'),
    advice: expect.stringContaining('without a proof: the receipts'),
  });
});

test('where traces are left out, a node with traces does not show coins that contracts send', async () => {
  const { out } = await doctor(chain(31_337, `    rpc: ['${rpc}']\n    traceCoins: false`), '--json');

  expect(bySetting(out)['chains[0].rpc[0]']).toMatchObject({
    state: 'warning',
    advice:
      'Payments in the native coin that contracts send, as some exchanges do, are not seen; remove traceCoins: false to see them.',
  });
});

test('an engine that does not have the configured fork is named, with the change to make', async () => {
  const { code, out } = await doctor('devnet: { engine: anvil, hardfork: amsterdam }\n', '--json');

  expect(code).toBe(1);
  expect(bySetting(out).devnet).toMatchObject({
    state: 'fault',
    detail: 'anvil does not have the fork amsterdam: remove devnet.engine, or set it to "edr"',
    advice: 'Do so, or serve chains of your own.',
  });
});

test('for a Redis that refuses the password, the advice is to write one, not to start it', async () => {
  await using redis = await startOwnRedis({ password: 'redis-secret' });
  const url = `redis://:another@127.0.0.1:${redis.port}`;

  const finding = await runCheck(redisCheck({ setting: 'rateLimitStore', url }), 10_000);

  expect(finding).toEqual({
    state: 'fault',
    detail: 'refuses the password',
    advice: 'Correct the user and the password in the address: redis://USER:PASSWORD@HOST:PORT.',
  });
});

test.each([
  ['blockscout', 'https://eth.blockscout.com/api/v2', true],
  ['blockscout', 'https://api.blockscout.com/1/api/v2', false],
  ['blockscout', 'https://explorer.b3.fun/api/v2', false],
  ['blockscout', 'https://notblockscout.com/api/v2', false],
  ['insight', 'https://eth.blockscout.com/v1', false],
] as const)('of a %s at %s it is said whether its operator ends it: %s', (kind, url, isEnding) => {
  const advice = endingOf({ kind, url }, 1);

  expect(advice !== undefined).toBe(isEnding);
  if (isEnding) expect(advice).toContain('https://api.blockscout.com/1/api/v2 with a key');
});
