import { expect, test } from 'vitest';
import type { Db } from '#db/open.ts';
import { execute, rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import { IDEMPOTENCY_LIFETIME_MS, idempotencyStore } from '#payments/api/gate/idempotency-store.ts';
import { SealError, seals } from '#payments/secrets/sealed.ts';
import { RECORD_TIME } from '../../lab/payments-records.ts';
import { bothDatabases } from '../../support/databases.ts';
import { givenDatabase } from '../../support/given-database.ts';

const SEALS = seals(['a secret of tests that is long enough']);

bothDatabases('the answers kept by idempotency key', databases => {
  const given = givenDatabase(databases, { isShared: true });

  const answer = (body: string) => ({ fingerprint: Buffer.from([0, 255, 7]), status: 201, body });

  test('are returned byte for byte, and only to their owner, mode and key', async () => {
    const store = idempotencyStore(given.db, SEALS);
    const body = '{"secret":"tg_live_é"}';
    const theirs = await given.newOwner();

    expect(await store.insert(given.owner, 'order 1', answer(body), RECORD_TIME)).toBe(true);

    expect(await store.find(given.owner, 'order 1')).toEqual({
      isStarted: false,
      ...answer(body),
      createdAt: RECORD_TIME,
    });
    expect(await store.find(given.owner, 'order 2')).toBeUndefined();
    expect(await store.find({ ...given.owner, mode: 'test' }, 'order 1')).toBeUndefined();
    expect(await store.find(theirs, 'order 1')).toBeUndefined();
  });

  test('are unreadable in the database and cannot be opened in another row', async () => {
    const store = idempotencyStore(given.db, SEALS);
    await store.insert(given.owner, 'one', answer('{"secret":"tg_live_hush"}'), RECORD_TIME);
    await store.insert(given.owner, 'two', answer('{}'), RECORD_TIME);

    const [row] = await rowsOf<{ sealed_body: string }>(
      given.db,
      "select * from idempotency_keys where key = 'one'",
    );
    await execute(given.db, "update idempotency_keys set sealed_body = ? where key = 'two'", [
      row?.sealed_body ?? '',
    ]);

    expect(JSON.stringify(row)).not.toContain('hush');
    await expect(store.find(given.owner, 'two')).rejects.toThrow(SealError);
  });

  test('are not replaced within 24 hours, and the transaction that tries it continues', async () => {
    await idempotencyStore(given.db, SEALS).insert(given.owner, 'key', answer('first'), RECORD_TIME);

    const kept = await transaction(given.db, async handle => {
      const store = idempotencyStore(handle, SEALS);
      const now = RECORD_TIME + IDEMPOTENCY_LIFETIME_MS - 1;
      expect(await store.insert(given.owner, 'key', answer('second'), now)).toBe(false);
      expect(await store.insert(given.owner, 'another', answer('third'), now)).toBe(true);
      return store.find(given.owner, 'key');
    });

    expect(kept).toEqual({ isStarted: false, ...answer('first'), createdAt: RECORD_TIME });
    expect(await idempotencyStore(given.db, SEALS).find(given.owner, 'another')).toMatchObject({
      body: 'third',
    });
  });

  test('are replaced when they are 24 hours old', async () => {
    const store = idempotencyStore(given.db, SEALS);
    const later = RECORD_TIME + IDEMPOTENCY_LIFETIME_MS;
    const replacement = { fingerprint: Buffer.from('new'), status: 200, body: 'second' };
    await store.insert(given.owner, 'key', answer('first'), RECORD_TIME);

    expect(await store.insert(given.owner, 'key', replacement, later)).toBe(true);

    expect(await store.find(given.owner, 'key')).toEqual({
      isStarted: false,
      ...replacement,
      createdAt: later,
    });
  });

  test('are kept from exactly one of many concurrent transactions', async () => {
    const keep = (on: Db, body: string) =>
      transaction(on, handle =>
        idempotencyStore(handle, SEALS).insert(given.owner, 'key', answer(body), RECORD_TIME),
      );

    const kept = await Promise.all(
      Array.from({ length: 20 }, (_, i) => keep(i % 2 === 0 ? given.db : given.other, String(i))),
    );

    expect(kept.filter(Boolean)).toHaveLength(1);
    expect(await idempotencyStore(given.db, SEALS).find(given.owner, 'key')).toMatchObject({
      body: String(kept.indexOf(true)),
    });
  });

  test('are purged by age, in any number', async () => {
    const store = idempotencyStore(given.db, SEALS);
    await transaction(given.db, async handle => {
      const within = idempotencyStore(handle, SEALS);
      for (let i = 0; i < 2_050; i++)
        await within.insert(given.owner, `old ${i}`, answer('{}'), RECORD_TIME - 1);
      await within.insert(given.owner, 'young', answer('{}'), RECORD_TIME);
    });

    expect(await store.purge(RECORD_TIME)).toBe(2_050);

    expect(await store.purge(RECORD_TIME)).toBe(0);
    expect(await store.find(given.owner, 'old 2049')).toBeUndefined();
    expect((await store.find(given.owner, 'young'))?.createdAt).toBe(RECORD_TIME);
  });
});
