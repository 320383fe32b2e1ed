import { readdirSync, readFileSync } from 'node:fs';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DatabaseOptions, type Db, openDatabase } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { createLogger } from '#lib/logger.ts';
import { openStore } from '#payments/open-store.ts';
import { openSeals, reseal } from '#payments/secrets/key-rotation.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { SEALED_COLUMNS, sealedCell, secretKeyStore } from '#payments/secrets/secret-key-store.ts';
import { record, text } from '../../lab/json.ts';
import { startTestPayments, type TestPaymentsService } from '../../lab/payments-service.ts';
import { until } from '../../lab/until.ts';
import { startReceiver } from '../../lab/webhook-receiver.ts';
import { bothDatabases } from '../../support/databases.ts';
import { manualClock } from '../../support/manual-clock.ts';

const OLD = 'the first secret key, used for a year'.replaceAll(' ', '-');
const NEW = 'the second secret key, used from today on'.replaceAll(' ', '-');
const [OLD_ID] = seals([OLD]).keyIds;
const [NEW_ID] = seals([NEW]).keyIds;
const key = (...values: string[]) => ({ kind: 'value', value: values.join('\n') }) as const;
const log = createLogger({ level: 'silent' });

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'secret-keys-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function send({ url, demoKey }: TestPaymentsService, method: string, path: string, body?: object) {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${demoKey}`,
      'Content-Type': 'application/json',
      ...(method === 'GET' ? {} : { 'Idempotency-Key': crypto.randomUUID() }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const told = record(await answer.json());
  expect(answer.ok, JSON.stringify(told)).toBe(true);
  return { status: answer.status, body: told };
}

/** The sealed values of a column, each with its cell. */
async function valuesOf(db: Db, column: (typeof SEALED_COLUMNS)[number]) {
  const rows = await rowsOf<Record<string, string>>(
    db,
    `select ${column.key.join(', ')}, ${column.column} as sealed from ${column.table} where ${column.column} is not null`,
  );
  return rows.map(row => ({
    sealed: row.sealed ?? '',
    cell: sealedCell(
      column,
      column.key.map(name => row[name] ?? ''),
    ),
  }));
}

/** Makes the service write into every sealed column. */
async function fill(service: TestPaymentsService, db: Db): Promise<void> {
  await send(service, 'PATCH', '/notifications', {
    email_address: 'shop@example.com',
    email_enabled: true,
    enabled_events: ['payment.completed'],
  });
  await using receiver = await startReceiver(() => response => response.end('received'));
  const webhook = await send(service, 'POST', '/webhooks', {
    url: receiver.url,
    events: ['payment.completed'],
    store_responses: true,
  });
  await send(service, 'POST', `/webhooks/${text(record(webhook.body.data).id)}/rotate-secret`, {
    grace_period_seconds: 3600,
  });
  const link = await send(service, 'POST', '/payment-links', { name: 'Coffee', amount: '7' });
  const session = await send(service, 'POST', '/checkout-sessions', {
    payment_link_id: text(link.body.id),
    customerEmail: 'payer@example.com',
  });
  await send(service, 'POST', `/test/sessions/${text(session.body.id)}/simulate`, { outcome: 'completed' });
  const empty = await until(
    async () => {
      const all = await Promise.all(SEALED_COLUMNS.map(column => valuesOf(db, column)));
      return SEALED_COLUMNS.filter((_, place) => all[place]?.length === 0);
    },
    columns => columns.length === 0,
  );
  expect(empty).toEqual([]);
}

async function idsIn(db: Db): Promise<string[]> {
  const all = await Promise.all(SEALED_COLUMNS.map(column => valuesOf(db, column)));
  return [...new Set(all.flat().map(({ sealed }) => sealed.split('.')[1] ?? ''))].sort();
}

test('every cell that the source seals is known to reseal', () => {
  const folderOfSource = fileURLToPath(new URL('../../../src/payments', import.meta.url));
  const cells = readdirSync(folderOfSource, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts') && !file.endsWith('sealed-columns.ts'))
    .flatMap(file => [
      ...readFileSync(join(folderOfSource, file), 'utf8').matchAll(/table: '(\w+)',\s*column: '(\w+)'/g),
    ])
    .map(([, table, column]) => `${table}.${column}`);

  // Not moved: a canary belongs to its key. The client hash of a session and the signature of a dashboard's cookie are
  // not sealed: the first matters for minutes, and a new key signs dashboards out. A payer asks for another mailed link.
  const notMoved = [
    'secret_keys.canary',
    'checkout_sessions.client_hash',
    'member_sessions.token_hash',
    'refund_links.token_hash',
    'spent_challenges.challenge_hash',
    // Renewed by `rehashCustomers`.
    'customers.email_hash',
  ];
  expect([...new Set(cells)].sort()).toEqual(
    [...SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`), ...notMoved].sort(),
  );
});

bothDatabases('secret keys', databases => {
  let original: DatabaseOptions;
  beforeAll(async () => {
    original = await databases.create('payments');
    const service = await startTestPayments(original, { secretKey: key(OLD) });
    const db = openDatabase(original);
    await fill(service, db);
    await service.close();
    await db.destroy();
  });

  async function filled(): Promise<{ database: DatabaseOptions; db: Db } & AsyncDisposable> {
    const database = await databases.create(original);
    const db = openDatabase(database);
    return { database, db, [Symbol.asyncDispose]: () => db.destroy() };
  }

  test('reseal moves exactly the columns whose names begin with sealed_', async () => {
    const database = await databases.create('payments');
    const { db } = await openStore(database, { secretKey: key(OLD), log });
    const rows = await rowsOf<{ place: string }>(
      db,
      db.dialect.name === 'sqlite'
        ? `select m.name || '.' || c.name as place from sqlite_schema m, pragma_table_info(m.name) c
           where m.type = 'table' and c.name like 'sealed%'`
        : `select table_name || '.' || column_name as place from information_schema.columns
           where table_schema = current_schema() and column_name like 'sealed%'`,
    );
    await db.destroy();

    expect(rows.map(({ place }) => place).sort()).toEqual(
      SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`).sort(),
    );
  });

  test('a service does not start with a wrong key, and names the needed key and the configured one', async () => {
    await using one = await filled();
    const file = join(folder, `${databases.kind}.key`);
    await writeFile(file, NEW, { mode: 0o600 });

    const byValue = startTestPayments(one.database, { secretKey: key(NEW) });
    await expect(byValue).rejects.toMatchObject({
      name: 'CannotStart',
      message: expect.stringMatching(new RegExp(`needs .*${OLD_ID}.*payments\\.secretKey has .*${NEW_ID}`)),
    });
    const byFile = startTestPayments(one.database, { secretKey: { kind: 'file', file } });
    await expect(byFile).rejects.toThrow(`${file} has the key of fingerprint ${NEW_ID}`);
  });

  test('a missing key file is not recreated when the database needs a key', async () => {
    await using one = await filled();
    const file = join(folder, `${databases.kind}-missing.key`);

    const start = startTestPayments(one.database, { secretKey: { kind: 'file', file } });

    await expect(start).rejects.toMatchObject({
      name: 'CannotStart',
      message: expect.stringMatching(new RegExp(`needs .*${OLD_ID}.*${file}`)),
    });
    await expect(access(file)).rejects.toThrow('ENOENT');
  });

  test('a database without recorded keys is checked by its sealed values', async () => {
    await using one = await filled();
    await one.db.raw('delete from secret_keys');
    const file = join(folder, `${databases.kind}-older.key`);

    await expect(startTestPayments(one.database, { secretKey: { kind: 'file', file } })).rejects.toThrow(
      OLD_ID,
    );
    await expect(startTestPayments(one.database, { secretKey: key(NEW) })).rejects.toThrow(OLD_ID);
    await (await startTestPayments(one.database, { secretKey: key(NEW, OLD) })).close();
    // Both keys are now recorded, so they are needed even without sealed values.
    await expect(startTestPayments(one.database, { secretKey: key(NEW) })).rejects.toThrow(OLD_ID);
    await expect(startTestPayments(one.database, { secretKey: key(OLD) })).rejects.toThrow(NEW_ID);
  });

  test('reseal moves everything to the newest key while the service runs, and then the old key can be removed', async () => {
    await using one = await filled();
    const running = await startTestPayments(one.database, { secretKey: key(NEW, OLD) });
    await fill(running, one.db);

    const { moved, unopened, remaining } = await reseal(one.db, seals([NEW, OLD]));
    const again = await reseal(one.db, seals([NEW, OLD]));
    await running.close();

    expect(moved).toBeGreaterThanOrEqual(SEALED_COLUMNS.length);
    expect([unopened, remaining, again.moved]).toEqual([0, [], 0]);
    expect(await idsIn(one.db)).toEqual([NEW_ID]);
    await using service = await startTestPayments(one.database, { secretKey: key(NEW) });
    for (const path of ['/events', '/checkout-sessions', '/webhooks']) {
      expect((await send(service, 'GET', path)).status, path).toBe(200);
    }
    const { open } = seals([NEW]);
    for (const column of SEALED_COLUMNS) {
      for (const { sealed, cell } of await valuesOf(one.db, column)) expect(open(sealed, cell)).not.toBe('');
    }
  });

  test('a key in use by a running process is still needed after reseal', async () => {
    await using one = await filled();
    const clock = manualClock(Date.now());
    await using _running = await startTestPayments(one.database, { secretKey: key(OLD), clock });
    const both = await openSeals(one.db, key(NEW, OLD));
    expect(await reseal(one.db, both)).toMatchObject({ unopened: 0, remaining: [] });

    const needed = await until(
      () => {
        clock.advance(60_000);
        return secretKeyStore(one.db).needed();
      },
      ids => ids.includes(OLD_ID),
    );

    expect(needed).toContain(OLD_ID);
    await expect(startTestPayments(one.database, { secretKey: key(NEW) })).rejects.toThrow(OLD_ID);
  });

  test('reseal continues an earlier run and skips values that no key opens', async () => {
    await using one = await filled();
    const [webhook] = await valuesOf(one.db, SEALED_COLUMNS[0] ?? expect.fail());
    await one.db.raw('update webhooks set sealed_secret = ?', [
      seals([OLD]).seal('elsewhere', { table: 'webhooks', column: 'sealed_secret', id: 'wh_other' }),
    ]);

    const halfWay = await reseal(one.db, seals([NEW, OLD]));
    await one.db.raw('update webhooks set sealed_secret = ?', [webhook?.sealed ?? null]);
    const rest = await reseal(one.db, seals([NEW, OLD]));

    expect(halfWay).toMatchObject({ unopened: 1, remaining: [OLD_ID] });
    expect(rest).toEqual({ moved: 1, unopened: 0, remaining: [] });
  });

  test('the service starts without a lost key once it is abandoned', async () => {
    await using one = await filled();

    await openSeals(one.db, key(NEW), { abandoned: OLD_ID });

    await using service = await startTestPayments(one.database, { secretKey: key(NEW) });
    expect((await send(service, 'GET', '/payment-links')).status).toBe(200);
  });

  test('of two concurrent starts on an empty database with different keys only one succeeds', async () => {
    const database = await databases.create();
    const { db } = await openStore(database, { secretKey: key(OLD), log });
    await db.raw('delete from secret_keys');

    // Without the migration of a whole start, which would serialize them: both read the needed keys before either
    // writes.
    const starts = await Promise.allSettled([openSeals(db, key(OLD)), openSeals(db, key(NEW))]);

    const needed = await secretKeyStore(db).needed();
    await db.destroy();
    expect(starts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(needed).toEqual([starts[0]?.status === 'fulfilled' ? OLD_ID : NEW_ID]);
  });

  test('a key with a needed fingerprint that does not open the canary is refused', async () => {
    await using one = await filled();
    const cell = { table: 'secret_keys', column: 'canary', id: `${OLD_ID}` };
    await one.db.raw('update secret_keys set canary = ?', [seals([NEW]).seal('of another key', cell)]);

    await expect(startTestPayments(one.database, { secretKey: key(OLD) })).rejects.toThrow(
      `needs the key of fingerprint ${OLD_ID}`,
    );
  });
});
