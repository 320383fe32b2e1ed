import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { addColumn, type Migration, migrate, table } from '#db/migrate.ts';
import { openDatabase } from '#db/open.ts';
import { CannotStart } from '#lib/startup-error.ts';
import { PAYMENTS_MIGRATIONS } from '#payments/store/migrations/payments-migrations.ts';
import { record, text } from '../lab/json.ts';
import { startTestPayments } from '../lab/payments-service.ts';
import { bothDatabases, postgresDatabase } from '../support/databases.ts';
import { apiClient } from '../support/payments-api.ts';

/** Migrations of a later version: one that this version still works with, and one that it does not. */
const ADDING: Migration = {
  name: 'something to come',
  up: [
    addColumn('payment_links', 'to_come', 'text'),
    table('things_to_come', { id: ['text', 'primary key'] }),
  ],
};
const REMOVING: Migration = {
  name: 'nothing that stays',
  up: ['drop table things_to_come'],
  servesFrom: '9.4.0',
};

bothDatabases('a process of an older version', databases => {
  test('works on a newer schema that still serves it, and becomes unready once it does not', async () => {
    const database = await databases.create('payments');
    const newer = openDatabase(database);
    await migrate(newer, [...PAYMENTS_MIGRATIONS, ADDING]);
    await using service = await startTestPayments(database);
    const { get, post } = apiClient(service.url, text(service.demoKey));
    const readiness = async () => {
      const answer = await fetch(`${service.url}/readyz`);
      return [answer.status, record(await answer.json()).checks];
    };

    const created = await post('/api/v1/payment-links', { name: 'Stickers', amount: '1000000' });
    const read = await get(`/api/v1/payment-links/${text(record(created.body).id)}`);
    const before = await readiness();
    await migrate(newer, [...PAYMENTS_MIGRATIONS, ADDING, REMOVING]).finally(() => newer.destroy());

    expect([created.status, read.status]).toEqual([201, 200]);
    expect(before).toEqual([200, { database: { ok: true }, announced: { ok: true } }]);
    const detail = 'Its schema serves tollgate 9.4.0 and newer, since the step "nothing that stays".';
    expect(await readiness()).toEqual([503, { database: { ok: false, detail }, announced: { ok: true } }]);
  });

  test('does not start on a schema that no longer serves it, and says so in a sentence', async () => {
    const database = await databases.create('payments');
    const newer = openDatabase(database);
    await migrate(newer, [...PAYMENTS_MIGRATIONS, ADDING, REMOVING]).finally(() => newer.destroy());

    await expect(startTestPayments(database)).rejects.toThrow(
      /^The payments database.* cannot be used: Its schema serves tollgate 9\.4\.0 and newer, since the step "nothing that stays"\.$/,
    );
  });
});

test('a PostgreSQL role that may only read and write rows is enough on a migrated database', async () => {
  const { options, remove } = await withRole('select, insert, update, delete on all tables in schema public');
  {
    await using service = await startTestPayments(options);
    const { get } = apiClient(service.url, text(service.demoKey));

    expect((await get('/api/v1/payment-links')).status).toBe(200);
  }
  await remove();
});

test('a start with a PostgreSQL role that may only read the migrations fails and names the setting', async () => {
  const { options, remove } = await withRole('select on table schema_migrations');

  const failure = await startTestPayments(options).catch((error: unknown) => error);
  await remove();

  expect(failure).toBeInstanceOf(CannotStart);
  expect(failure).toMatchObject({
    setting: 'payments.database',
    message:
      'The payments database cannot be used: permission denied for table secret_keys; its role needs the right to read and write the tables there',
  });
});

/** A migrated database opened by a role with the given grant and no right to create tables. */
async function withRole(right: string) {
  const { options, remove } = await postgresDatabase('payments');
  const owner = openDatabase(options);
  const role = `rows_${randomBytes(8).toString('hex')}`;
  await owner.raw(`create role ${role} login`);
  await owner.raw(`revoke create on schema public from public, ${role}`);
  await owner.raw(`grant ${right} to ${role}`);
  const url = options.url.replace('postgres@', `${role}@`);
  return {
    options: { kind: 'postgres' as const, url },
    async remove() {
      await owner.raw(`drop owned by ${role}`);
      await owner.raw(`drop role ${role}`).finally(() => owner.destroy());
      await remove();
    },
  };
}
