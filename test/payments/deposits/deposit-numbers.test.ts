import { expect, test } from 'vitest';
import { type DatabaseOptions, type Db, openDatabase } from '#db/open.ts';
import { storageOf, transaction } from '#db/transaction.ts';
import { beginEpochAfterMove, depositNumbers } from '#payments/deposits/deposit-numbers.ts';
import { bothDatabases } from '../../support/databases.ts';

const NOW = Date.UTC(2026, 0, 1);
const ORGANIZATION = 'org_1';

bothDatabases('numbers of deposit addresses', databases => {
  const next = (db: Db, organization = ORGANIZATION) =>
    transaction(db, handle => depositNumbers(handle).next(organization, NOW));
  const nextOf = async (options: DatabaseOptions, count: number) => {
    await using db = opened(options);
    const numbers = [];
    for (let index = 0; index < count; index++) numbers.push(await next(db.db));
    return numbers;
  };

  test('are counted for each organization, and differ although two processes issue them at the same time', async () => {
    const options = await databases.create('payments');
    await using one = opened(options);
    await using another = opened(options);

    const issued = await Promise.all(
      Array.from({ length: 20 }, (_, index) => next(index % 2 === 0 ? one.db : another.db)),
    );
    const others = await next(one.db, 'org_2');

    expect(issued.map(({ number }) => number).sort((a, b) => a - b)).toEqual([...Array(20).keys()]);
    expect(new Set(issued.map(({ epoch }) => epoch)).size).toBe(1);
    expect(others).toMatchObject({ epoch: issued[0]?.epoch, number: 0 });
    expect(others.salt).not.toBe(issued.find(({ number }) => number === 0)?.salt);
  });

  test('are not used twice after a backup was restored elsewhere: the next start begins a new epoch', async () => {
    const options = await databases.create('payments');
    const first = await nextOf(options, 2);
    const backup = await databases.create(options);
    const shownLater = await nextOf(options, 2);

    await using restored = opened(backup);
    const hasMoved = await depositNumbers(restored.db).hasMoved(await storageOf(restored.db));
    const began = await beginEpochAfterMove(restored.db, NOW + 1);
    const again = await beginEpochAfterMove(restored.db, NOW + 2);
    const after = [await next(restored.db), await next(restored.db)];

    expect([hasMoved, began, again]).toEqual([true, true, false]);
    const salts = [...first, ...shownLater, ...after].map(({ salt }) => salt);
    expect(new Set(salts).size).toBe(6);
    expect(await depositNumbers(restored.db).epochsOf(ORGANIZATION, NOW)).toEqual([
      first[0]?.epoch,
      after[0]?.epoch,
    ]);
  });

  test('are not used twice after a restore on a machine whose clock is behind', async () => {
    const options = await databases.create('payments');
    await nextOf(options, 1);
    const backup = await databases.create(options);
    const [shownLater] = await nextOf(options, 1);

    await using restored = opened(backup);
    const began = await beginEpochAfterMove(restored.db, NOW - 60_000);
    const again = await beginEpochAfterMove(restored.db, NOW - 59_000);
    const { epoch, number } = await next(restored.db);

    expect([began, again, number]).toEqual([true, false, 0]);
    expect(epoch).not.toBe(shownLater?.epoch);
  });

  test('keep their epoch over restarts', async () => {
    const options = await databases.create('payments');
    const [before] = await nextOf(options, 1);

    await using db = opened(options);
    const began = await beginEpochAfterMove(db.db, NOW + 1);

    expect(began).toBe(false);
    expect(await next(db.db)).toMatchObject({ epoch: before?.epoch, number: 1 });
  });
});

function opened(options: DatabaseOptions) {
  const db = openDatabase(options);
  return { db, [Symbol.asyncDispose]: () => db.destroy() };
}
