import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openMigrated } from '#db/migrate.ts';
import type { DatabaseOptions, Db } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { silentLogger } from '#lib/logger.ts';
import { startPresence } from '#payments/role-presence.ts';
import { PAYMENTS_SCHEMA } from '#payments/store/migrations/payments-migrations.ts';
import { presenceStore } from '#payments/store/presence-store.ts';
import { until } from '../lab/until.ts';
import { bothDatabases } from '../support/databases.ts';
import { manualClock } from '../support/manual-clock.ts';

const NOW = Date.UTC(2026, 4, 4, 12);

bothDatabases('the presence of a process', databases => {
  async function opened(database?: DatabaseOptions): Promise<Db> {
    const db = await openMigrated(database ?? (await databases.create('payments')), PAYMENTS_SCHEMA);
    onTestFinished(() => db.destroy());
    return db;
  }

  async function begin(db: Db, clock = manualClock(NOW)) {
    const [roles, chainIds, log] = [['payments'] as const, [], silentLogger()];
    const presence = await startPresence({ db, roles, chainIds, onChange: () => {}, clock, log });
    onTestFinished(() => presence.leave());
    return presence;
  }

  test('lasts even when the clock of another process is ahead', async () => {
    const db = await opened();
    await presenceStore(db).extend('proc_behind', ['delivery'], NOW + 15_000);

    await begin(db, manualClock(NOW + 60_000));
    const seen = await begin(db);

    // The process that is ahead does not count: its announcement lasts longer than any.
    expect(seen.counts()).toEqual({ payments: 1, settlement: 0, delivery: 1 });
  });

  test('does not count a dead process whose clock was ahead', async () => {
    const db = await opened();
    await presenceStore(db).extend('proc_ahead', ['delivery'], NOW + 40 * 60_000);

    const seen = await begin(db);

    expect(seen.counts()).toEqual({ payments: 1, settlement: 0, delivery: 0 });
  });

  test('is removed when the process died long ago', async () => {
    const db = await opened();
    await presenceStore(db).extend('proc_killed', ['delivery'], NOW - 600_001);

    await begin(db);

    expect(await rowsOf(db, `select name from leases where holder = 'proc_killed'`)).toEqual([]);
  });

  test('is renewed at most five seconds after a failure', async () => {
    const db = await opened();
    const clock = manualClock(NOW);
    const presence = await begin(db, clock);
    /** Advances the clock once earlier work has ended. */
    const pass = async (ms: number) => {
      await until(
        async () => clock.sleepers(),
        count => count === 1,
      );
      clock.advance(ms);
      await setImmediate();
    };
    await pass(0);

    await db.raw('alter table leases rename to leases_away');
    for (let passed = 0; passed < 60; passed++) await pass(1_000);
    const isKnownWithout = presence.isKnown();
    await pass(0);
    await db.raw('alter table leases_away rename to leases');
    await pass(5_000);

    const isKnown = await until(
      async () => presence.isKnown(),
      known => known,
    );
    expect([isKnownWithout, isKnown]).toEqual([false, true]);
  });
});
