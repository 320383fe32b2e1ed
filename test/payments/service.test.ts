import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { rowsOf } from '../../src/db/query.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { newId } from '../../src/lib/ids.ts';
import { IDEMPOTENCY_LIFETIME_MS, idempotencyStore } from '../../src/payments/api/gate/idempotency-store.ts';
import { EVENT_LIFETIME_MS } from '../../src/payments/events/event-store.ts';
import { createDemo } from '../../src/payments/listener.ts';
import { retentionWorker } from '../../src/payments/retention.ts';
import { seals } from '../../src/payments/secrets/sealed.ts';
import { cursorStore } from '../../src/payments/store/cursor-store.ts';
import { organizationStore } from '../../src/payments/store/organization-store.ts';
import { list, record, text } from '../lab/json.ts';
import {
  SHOP,
  startTestPayments,
  type TestPaymentsService,
  unreachableChain,
} from '../lab/payments-service.ts';
import { eachDatabase } from '../support/databases.ts';
import { manualClock } from '../support/manual-clock.ts';

const LINKS = '/api/v1/payment-links';
const folders: string[] = [];
afterAll(() => Promise.all(folders.map(folder => rm(folder, { recursive: true }))));

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'payments-'));
  folders.push(folder);
  return folder;
}

function asDemo({ url, demoKey }: TestPaymentsService, path: string, body?: object): Promise<Response> {
  return fetch(url + path, {
    headers: { Authorization: `Bearer ${demoKey}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
}

eachDatabase('the payments service', databases => {
  test('keeps its data after a restart', async () => {
    const database = await databases.create();
    const first = await startTestPayments(database);
    const answer = await asDemo(first, LINKS, { name: 'Field notebooks', amount: '7' });
    const link = record(await answer.json());
    await first.close();

    await using second = await startTestPayments(database, { publicUrl: 'https://pay.example.com' });
    const again = await asDemo(second, `${LINKS}/${text(link.id)}`);

    expect(link).toMatchObject({ url: `${first.url}/pay/${text(link.short_code)}`, recipient_address: SHOP });
    const url = `https://pay.example.com/pay/${text(link.short_code)}`;
    expect(await again.json()).toEqual({ ...link, url });
  });

  test('counts clients behind an untrusted proxy on the same machine', async () => {
    await using service = await startTestPayments(await databases.create());
    const headers = { 'X-Forwarded-For': '203.0.113.5', 'X-API-Key': 'guessed' };

    const statuses: number[] = [];
    for (let sent = 0; sent < 31; sent++) {
      statuses.push((await fetch(service.url + LINKS, { headers })).status);
    }

    expect(statuses).toEqual([...Array<number>(30).fill(401), 429]);
  });

  test('concurrent starts share one database and one demo, and only its newest key is valid', async () => {
    const database = await databases.create();

    const both = await Promise.all([startTestPayments(database), startTestPayments(database)]);

    const statuses = await Promise.all(both.map(async service => (await asDemo(service, LINKS)).status));
    const [one, other] = statuses[0] === 200 ? both : [both[1], both[0]];
    const link = record(await (await asDemo(one, LINKS, { name: 'A' })).json());
    const seen = await asDemo({ ...other, demoKey: one.demoKey }, `${LINKS}/${text(link.id)}`);
    expect([statuses.sort(), seen.status]).toEqual([[200, 401], 200]);
    await Promise.all(both.map(service => service.close()));
  });

  test('the demo key of a run ends when the next run on the same database starts', async () => {
    const database = await databases.create();
    const first = await startTestPayments(database);
    const during = await asDemo(first, LINKS);
    await first.close();

    await using second = await startTestPayments(database);

    const answers = [
      during,
      await asDemo({ ...second, demoKey: first.demoKey }, LINKS),
      await asDemo(second, LINKS),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 200]);
  });

  test('the cursor of a chain is reset only if the chain begins again with every run', async () => {
    const options = await databases.create('payments');
    const db = openDatabase(options);
    const cursors = cursorStore(db);
    for (const id of [31_337, 31_338]) await cursors.set(id, { blockNumber: 999, scannedAt: 5, headTime: 5 });
    const chains = [
      { ...unreachableChain, isOfThisRun: true },
      { ...unreachableChain, id: 31_338 },
    ];

    await (await startTestPayments(options, { chains })).close();

    expect(await cursors.find(31_337)).toMatchObject({ blockNumber: 0, scannedAt: 0 });
    expect(await cursors.find(31_338)).toMatchObject({ blockNumber: 999, scannedAt: 5 });
    await db.destroy();
  });

  test('retention removes expired events and idempotency keys, and nothing else', async () => {
    const db = openDatabase(await databases.create('payments'));
    const clock = manualClock();
    const sealed = seals(['a secret that seals nothing but what tests keep']);
    const defaults = { chainId: null, tokenAddress: null, recipientAddress: null };
    await createDemo(db, { defaults, now: clock.now() });
    const [shop] = await organizationStore(db).list();
    const owner = { organizationId: shop?.id ?? '', mode: 'test' } as const;
    const answer = { fingerprint: Buffer.alloc(32), status: 201, body: '{}' };
    const ages = { old: clock.now() - EVENT_LIFETIME_MS - 1, young: clock.now() - EVENT_LIFETIME_MS + 1 };
    for (const [name, at] of Object.entries(ages)) {
      const values = [newId('evt'), owner.organizationId, owner.mode, 'checkout.expired', name, 'v1', at, 0];
      await db.raw(
        'insert into events (id, organization_id, mode, type, fact, sealed_data, created_at, place) values (?, ?, ?, ?, ?, ?, ?, ?)',
        values,
      );
    }
    const keys = idempotencyStore(db, sealed);
    await keys.insert(owner, 'old', answer, clock.now() - IDEMPOTENCY_LIFETIME_MS - 1);
    await keys.insert(owner, 'young', answer, clock.now() - IDEMPOTENCY_LIFETIME_MS + 1);
    const worker = retentionWorker({ db, seals: sealed, clock });
    const { signal } = new AbortController();

    const removed = [await worker.runOnce(signal), await worker.runOnce(signal)];

    const facts = await rowsOf<{ fact: string }>(db, 'select fact from events');
    expect(removed).toEqual([2, 0]);
    expect(facts).toEqual([{ fact: 'young' }]);
    expect(await keys.find(owner, 'old')).toBeUndefined();
    expect(await keys.find(owner, 'young')).toBeDefined();
    await db.destroy();
  });
});

test('the folders of the database and the secret key are created for their owner only', async () => {
  const folder = join(await newFolder(), 'var', 'payments');
  const file = join(folder, 'payments.db');
  const key = join(folder, 'secret.key');

  await using _ = await startTestPayments({ file }, { secretKey: { kind: 'file', file: key } });

  const modes = await Promise.all([folder, key].map(async path => (await stat(path)).mode & 0o777));
  expect(modes).toEqual([0o700, 0o600]);
});

test('unknown paths and methods are answered as resource_not_found', async () => {
  await using service = await startTestPayments({ file: join(await newFolder(), 'payments.db') });
  const ask = async (method: string, path: string) => {
    const response = await fetch(service.url + path, { method });
    const { error } = record(await response.json());
    return [response.status, record(error).code, response.headers.get('allow')];
  };

  expect(await ask('GET', '/nothing')).toEqual([404, 'resource_not_found', null]);
  expect(await ask('PUT', LINKS)).toEqual([404, 'resource_not_found', expect.stringContaining('POST')]);
  expect(await ask('POST', '/healthz')).toEqual([404, 'resource_not_found', 'GET, HEAD']);
  expect(await ask('OPTIONS', '/healthz')).toEqual([404, 'resource_not_found', 'GET, HEAD']);
  expect(await ask('DELETE', '/pay/abcd')).toEqual([404, 'resource_not_found', 'GET, HEAD']);
  expect(await ask('GET', LINKS)).toEqual([401, 'key_missing', null]);
});

test('the API description, its Mintlify variant and the reference page are served', async () => {
  await using service = await startTestPayments({ file: join(await newFolder(), 'payments.db') });
  const read = async (path: string) => record(await (await fetch(service.url + path)).json());

  const plain = await read('/openapi.json');
  const variant = await read('/openapi.json?mintlify');
  const page = await fetch(`${service.url}/docs`);

  expect(Object.keys(record(plain.paths))).toEqual(expect.arrayContaining([LINKS, '/openapi.json']));
  expect(Object.keys(record(plain.webhooks))).toContain('payment.completed');
  expect((await fetch(`${service.url}/openapi.yaml?mintlify=1&mintlify=2`)).status).toBe(400);
  expect((await fetch(`${service.url}/openapi.json`, { method: 'POST' })).status).toBe(404);
  expect(list(variant.servers)).toEqual([expect.objectContaining({ url: service.url })]);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('tollgate payments')]);
});

test('a payer sees a page at the address of a link, and a 404 page for a missing link', async () => {
  await using service = await startTestPayments({ file: join(await newFolder(), 'payments.db') });
  const link = record(await (await asDemo(service, LINKS, { name: 'Field notebooks' })).json());

  const page = await fetch(text(link.url));
  const none = await fetch(`${service.url}/pay/nothing-here`);

  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Field notebooks')]);
  expect([none.status, none.headers.get('content-type')]).toEqual([
    404,
    expect.stringContaining('text/html'),
  ]);
});

test('a service with an unreachable node is ready, and its status shows the chain late after a minute', async () => {
  const clock = manualClock(Date.now());
  const metrics = createMetrics();
  const database = { file: join(await newFolder(), 'payments.db') };
  await using service = await startTestPayments(database, { clock, metrics });

  const alive = await fetch(`${service.url}/healthz`);
  const ready = await fetch(`${service.url}/readyz`);

  const before = record(await service.status());
  clock.advance(61_000);
  const after = record(await service.status());
  const scrape = await metrics.registry.metrics();

  expect([alive.status, ready.status]).toEqual([200, 200]);
  expect(record(await ready.json()).checks).toEqual({ database: { ok: true }, announced: { ok: true } });
  const chain = { id: 31_337, name: 'Local', head_block: null, settled_block: null, lag_blocks: null };
  expect(before.chains).toMatchObject([{ ...chain, late: false, stalled: null, lag_seconds: 0 }]);
  expect(after.chains).toMatchObject([{ ...chain, late: true, stalled: 'scan', lag_seconds: 61 }]);
  expect(scrape).toContain('tollgate_payments_watcher_lag_seconds{chain="31337"} 61\n');
});

test('without a demo there is no organization and no key', async () => {
  const file = join(await newFolder(), 'payments.db');

  const service = await startTestPayments({ file }, { demo: undefined });
  await service.close();

  const db = openDatabase({ file });
  expect([service.demoKey, await organizationStore(db).list()]).toEqual([undefined, []]);
  await db.destroy();
});

test('a failed start leaves nothing open', async () => {
  const file = join(await newFolder(), 'payments.db');
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise(resolve => other.once('listening', resolve));
  const address = other.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;

  await expect(startTestPayments({ file }, { port })).rejects.toThrow('EADDRINUSE');
  await expect(startTestPayments({ file }, { secretKey: { kind: 'value', value: 'short' } })).rejects.toThrow(
    '32 characters',
  );

  await new Promise(resolve => other.close(resolve));
  await using service = await startTestPayments({ file }, { port });
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
});
