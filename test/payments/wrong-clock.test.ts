import { expect, onTestFinished, test } from 'vitest';
import { runCheck } from '#command/doctor/check.ts';
import { databaseCheck } from '#command/doctor/database-check.ts';
import { databaseClock, readServerTime } from '#db/database-clock.ts';
import { openDatabase } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { createMetrics } from '#http/metrics.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { PAYMENTS_SCHEMA } from '#payments/store/migrations/payments-migrations.ts';
import { record } from '../lab/json.ts';
import { startTestProcess } from '../lab/payments-service.ts';
import { postgresDatabase } from '../support/databases.ts';

const AHEAD_MS = 40 * 60_000;
/** Clock of a machine that is 40 minutes ahead. */
const ahead: Clock = { ...systemClock, now: () => systemClock.now() + AHEAD_MS };

async function paymentsDatabase() {
  const { options, remove } = await postgresDatabase('payments');
  const db = openDatabase(options);
  onTestFinished(async () => {
    await db.destroy();
    await remove();
  });
  return { options, db };
}

test('a process whose machine is 40 minutes ahead takes no lease for longer than the others, and warns', async () => {
  const { options, db } = await paymentsDatabase();
  const metrics = createMetrics();
  await using service = await startTestProcess(options, { clock: ahead, metrics, roles: ['settlement'] });

  const leases = await rowsOf<{ name: string; expires_at: number }>(
    db,
    'select name, expires_at from leases',
  );
  const { processes, warnings } = record(await service.status());
  const [, seconds] =
    /^tollgate_clock_ahead_seconds\{database="payments"\} (.+)$/m.exec(await metrics.registry.metrics()) ??
    [];

  expect(leases.map(({ name }) => name.split(':')[1]).toSorted()).toEqual(
    expect.arrayContaining(['settlement', 'settlement/31337']),
  );
  const longest = Math.max(...leases.map(lease => lease.expires_at));
  expect(longest - systemClock.now()).toBeLessThan(60_000);
  expect(processes).toEqual({ payments: 0, settlement: 1, delivery: 0 });
  expect(warnings).toContain('the clock of this machine is 2400 s ahead of that of payments.database');
  expect(Math.round(Number(seconds))).toBe(AHEAD_MS / 1_000);
});

test('a clock that becomes wrong is logged once, and once when it is right again', async () => {
  const { db } = await paymentsDatabase();
  const lines: { level: number; msg: string }[] = [];
  const log = createLogger({
    level: 'info',
    destination: { write: line => void lines.push(JSON.parse(line)) },
  });
  let aheadMs = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
  const readings = async () => {
    for (let reading = 0; reading < 3; reading += 1) await readServerTime(db, db);
    return lines.splice(0).map(({ level, msg }) => [level, msg]);
  };

  await databaseClock(db, clock, { name: 'payments.database', log });
  const right = await readings();
  aheadMs = AHEAD_MS;
  const wrong = await readings();
  aheadMs = 0;

  expect(right).toEqual([]);
  expect(wrong).toEqual([[40, 'the clock of this machine is 2400 s ahead of that of payments.database']]);
  expect(await readings()).toEqual([
    [30, 'the clock of this machine agrees with that of payments.database again'],
  ]);
});

test('a process whose machine is right warns of nothing', async () => {
  const { options } = await paymentsDatabase();
  await using service = await startTestProcess(options);

  expect(record(await service.status()).warnings).toEqual([]);
});

test('tollgate doctor says by how much the clock of this machine differs from the database’s', async () => {
  const { options } = await paymentsDatabase();
  const check = (clock: Clock, poolSize = 10) =>
    databaseCheck({ options: { ...options, poolSize }, schema: PAYMENTS_SCHEMA }, clock);

  const [wrong, right] = [await runCheck(check(ahead), 10_000), await runCheck(check(systemClock), 10_000)];

  expect(wrong).toEqual({
    state: 'warning',
    detail: expect.stringMatching(
      /^has all \d+ steps of its schema; the clock of this machine is 2400 s ahead of that of this database$/,
    ),
    advice: 'Synchronize the clocks of both machines with NTP.',
  });
  expect(right.state).toBe('ok');
  expect(await runCheck(check(ahead, 500), 10_000)).toMatchObject({
    detail: expect.stringMatching(/; its pool of 500 exceeds .+; the clock of this machine is 2400 s ahead/),
    advice: 'Lower postgres.pool. Synchronize the clocks of both machines with NTP.',
  });
});
