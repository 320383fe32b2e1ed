import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { LEADER_MIGRATION, leadership } from '../../src/db/leader.ts';
import { migrate } from '../../src/db/migrate.ts';
import type { Db } from '../../src/db/open.ts';
import { transaction } from '../../src/db/transaction.ts';
import { until } from '../lab/until.ts';
import { bothDatabases } from '../support/databases.ts';
import { givenConnections } from '../support/given-database.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';

bothDatabases('a leader', databases => {
  const given = givenConnections(databases, {
    isShared: false,
    prepare: db => migrate(db, [LEADER_MIGRATION]),
  });
  let clock: ManualClock;

  beforeEach(() => {
    clock = manualClock();
  });

  const candidate = (on: Db, { name = 'watcher:1', at = clock } = {}) =>
    leadership(on, { name, leaseMs: 1_000, clock: at });

  test('is exactly one of several concurrent candidates', async () => {
    const candidates = Array.from({ length: 8 }, (_, i) => candidate(i % 2 === 0 ? given.db : given.other));

    const held = await Promise.all(candidates.map(one => one.hold()));

    expect(held.filter(Boolean)).toHaveLength(1);
  });

  test('keeps its role while it renews its hold, and loses it otherwise', async () => {
    const [first, second] = [candidate(given.db), candidate(given.other)];
    expect(await first.hold()).toBe(true);
    clock.advance(900);
    expect(await first.hold()).toBe(true);
    clock.advance(900);
    expect(await second.hold()).toBe(false);
    clock.advance(100);

    expect(await second.hold()).toBe(true);

    expect(await first.hold()).toBe(false);
    expect(await transaction(given.db, handle => first.confirm(handle))).toBe(false);
    expect(await transaction(given.db, handle => second.confirm(handle))).toBe(true);
  });

  test('keeps its lease by renewing it, and a candidate cannot take it by renewing', async () => {
    const [first, second] = [candidate(given.db), candidate(given.other)];
    await first.hold();
    clock.advance(900);
    expect(await first.renew()).toBe(true);
    clock.advance(900);
    expect([await second.renew(), await second.hold()]).toEqual([false, false]);
    clock.advance(100);
    expect(await second.hold()).toBe(true);

    expect(await first.renew()).toBe(false);

    await second.resign();
    expect(await first.renew()).toBe(false);
  });

  test('is elected once while it keeps its role, and again after another one led', async () => {
    let elections = 0;
    const onElected = () => {
      elections += 1;
    };
    const first = leadership(given.db, { name: 'watcher:1', leaseMs: 1_000, clock, onElected });
    const second = candidate(given.other);
    await first.hold();
    await first.hold();
    expect(elections).toBe(1);
    clock.advance(1_000);
    await second.hold();
    await second.resign();

    await first.hold();

    expect(elections).toBe(2);
  });

  test('of one role is independent of another role’s', async () => {
    expect(await candidate(given.db).hold()).toBe(true);
    expect(await candidate(given.other, { name: 'watcher:2' }).hold()).toBe(true);
  });

  test('that resigns is replaced at once, and another candidate’s resignation has no effect', async () => {
    const [first, second] = [candidate(given.db), candidate(given.other)];
    await first.hold();
    await second.resign();
    expect(await second.hold()).toBe(false);

    await first.resign();

    expect(await second.hold()).toBe(true);
  });

  test.each(['confirm', 'check'] as const)(
    'that has called %s in a transaction is not replaced before it ends, even by a clock that runs ahead',
    async call => {
      const first = candidate(given.db);
      await first.hold();
      const ahead = manualClock(clock.now() + 60_000);
      const second = candidate(given.other, { at: ahead });
      const order: string[] = [];

      let following: Promise<unknown> = Promise.resolve();
      await transaction(given.db, async handle => {
        const isLeader = await first[call](handle);
        following = until(
          () => second.hold(),
          isHeld => isHeld,
        ).then(isHeld => order.push(`followed ${isHeld}`));
        await delay(50);
        order.push(`settled ${isLeader}`);
      });
      await following;

      expect(order).toEqual(['settled true', 'followed true']);
      expect(await transaction(given.db, handle => first[call](handle))).toBe(false);
    },
  );

  test('that was ahead by 40 minutes when it died is replaced at once, and one a little ahead is not', async () => {
    const minutes = 60_000;
    const [dead, ahead] = [manualClock(clock.now() + 40 * minutes), manualClock(clock.now() + 5_000)];
    await candidate(given.db, { at: dead }).hold();
    await candidate(given.db, { name: 'watcher:2', at: ahead }).hold();
    const [first, second] = [candidate(given.other), candidate(given.other, { name: 'watcher:2' })];
    expect([await first.isFree(), await second.isFree()]).toEqual([true, false]);

    expect([await first.hold(), await second.hold()]).toEqual([true, false]);
  });
});
