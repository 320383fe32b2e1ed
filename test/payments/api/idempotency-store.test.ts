import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Db, openDatabase } from '#db/open.ts';
import { execute, rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import { IDEMPOTENCY_LIFETIME_MS, idempotencyStore } from '#payments/api/gate/idempotency-store.ts';
import type { Owner } from '#payments/model/owner.ts';
import { SealError, seals } from '#payments/secrets/sealed.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { eachDatabase } from '../../support/databases.ts';
import { anOrganization, RECORD_TIME } from '../../support/payments-records.ts';

const SEALS = seals(['a secret of tests that is long enough']);

eachDatabase('the answers kept by idempotency key', databases => {
  let db: Db;
  let other: Db;
  let owner: Owner;

  beforeEach(async () => {
    const options = await databases.create('payments');
    db = openDatabase(options);
    other = openDatabase(options);
    const organization = anOrganization();
    await organizationStore(db).insert(organization);
    owner = { organizationId: organization.id, mode: 'live' };
  });

  afterEach(() => Promise.all([db.destroy(), other.destroy()]));

  const answer = (body: string) => ({ fingerprint: Buffer.from([0, 255, 7]), status: 201, body });

  test('come back byte by byte, to their owner, mode and key only', async () => {
    const store = idempotencyStore(db, SEALS);
    const body = '{"secret":"tg_live_é"}';
    const theirs = anOrganization();
    await organizationStore(db).insert(theirs);

    expect(await store.insert(owner, 'order 1', answer(body), RECORD_TIME)).toBe(true);

    expect(await store.find(owner, 'order 1')).toEqual({
      isStarted: false,
      ...answer(body),
      createdAt: RECORD_TIME,
    });
    expect(await store.find(owner, 'order 2')).toBeUndefined();
    expect(await store.find({ ...owner, mode: 'test' }, 'order 1')).toBeUndefined();
    expect(await store.find({ ...owner, organizationId: theirs.id }, 'order 1')).toBeUndefined();
  });

  test('cannot be read in the database, nor opened in another row', async () => {
    const store = idempotencyStore(db, SEALS);
    await store.insert(owner, 'one', answer('{"secret":"tg_live_hush"}'), RECORD_TIME);
    await store.insert(owner, 'two', answer('{}'), RECORD_TIME);

    const [row] = await rowsOf<{ sealed_body: string }>(
      db,
      "select * from idempotency_keys where key = 'one'",
    );
    await execute(db, "update idempotency_keys set sealed_body = ? where key = 'two'", [
      row?.sealed_body ?? '',
    ]);

    expect(JSON.stringify(row)).not.toContain('hush');
    await expect(store.find(owner, 'two')).rejects.toThrow(SealError);
  });

  test('are not replaced within 24 hours, and the transaction that tried goes on', async () => {
    await idempotencyStore(db, SEALS).insert(owner, 'key', answer('first'), RECORD_TIME);

    const kept = await transaction(db, async handle => {
      const store = idempotencyStore(handle, SEALS);
      const now = RECORD_TIME + IDEMPOTENCY_LIFETIME_MS - 1;
      expect(await store.insert(owner, 'key', answer('second'), now)).toBe(false);
      expect(await store.insert(owner, 'another', answer('third'), now)).toBe(true);
      return store.find(owner, 'key');
    });

    expect(kept).toEqual({ isStarted: false, ...answer('first'), createdAt: RECORD_TIME });
    expect(await idempotencyStore(db, SEALS).find(owner, 'another')).toMatchObject({ body: 'third' });
  });

  test('are replaced when they are 24 hours old', async () => {
    const store = idempotencyStore(db, SEALS);
    const later = RECORD_TIME + IDEMPOTENCY_LIFETIME_MS;
    const replacement = { fingerprint: Buffer.from('new'), status: 200, body: 'second' };
    await store.insert(owner, 'key', answer('first'), RECORD_TIME);

    expect(await store.insert(owner, 'key', replacement, later)).toBe(true);

    expect(await store.find(owner, 'key')).toEqual({ isStarted: false, ...replacement, createdAt: later });
  });

  test('are kept of one only, of many transactions that answer at once', async () => {
    const keep = (on: Db, body: string) =>
      transaction(on, handle =>
        idempotencyStore(handle, SEALS).insert(owner, 'key', answer(body), RECORD_TIME),
      );

    const kept = await Promise.all(
      Array.from({ length: 20 }, (_, i) => keep(i % 2 === 0 ? db : other, String(i))),
    );

    expect(kept.filter(Boolean)).toHaveLength(1);
    expect(await idempotencyStore(db, SEALS).find(owner, 'key')).toMatchObject({
      body: String(kept.indexOf(true)),
    });
  });

  test('are purged by age, however many there are', async () => {
    const store = idempotencyStore(db, SEALS);
    await transaction(db, async handle => {
      const within = idempotencyStore(handle, SEALS);
      for (let i = 0; i < 2_050; i++) await within.insert(owner, `old ${i}`, answer('{}'), RECORD_TIME - 1);
      await within.insert(owner, 'young', answer('{}'), RECORD_TIME);
    });

    expect(await store.purge(RECORD_TIME)).toBe(2_050);

    expect(await store.purge(RECORD_TIME)).toBe(0);
    expect(await store.find(owner, 'old 2049')).toBeUndefined();
    expect((await store.find(owner, 'young'))?.createdAt).toBe(RECORD_TIME);
  });
});
