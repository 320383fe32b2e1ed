import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { type DatabaseOptions, openDatabase } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import { systemClock } from '#lib/clock.ts';
import type { DispatcherStep } from '#payments/webhooks/dispatcher.ts';
import { LEASE_MS } from '#payments/webhooks/store/due-deliveries.ts';
import { until } from '../../lab/until.ts';
import { type Arrival, startReceiver } from '../../lab/webhook-receiver.ts';
import { bothDatabases } from '../../support/databases.ts';
import type { DispatcherTask } from './dispatcher-process.ts';
import { allArrived, SECRET, startSetting } from './setting.ts';

const EVENTS = 12;
/** Number of the step's occurrence that kills it: some deliveries are done, some under way and some left. */
const TIMES: Readonly<Record<DispatcherStep, number>> = {
  'before claim': 2,
  'after claim': 2,
  'before send': 7,
  'after send': 7,
  'before result': 2,
  'after result': 2,
};

const STEPS = Object.keys(TIMES).map(stepOf);
/** Consecutive processes, each killed after it has sent. */
const CRASHES = [0, 1, 2, 3, 4];

const children: ChildProcess[] = [];

afterEach(async () => {
  await Promise.all(children.splice(0).map(ended));
});

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

function dispatcherProcess(task: Omit<DispatcherTask, 'secret'>): ChildProcess {
  const entry = fileURLToPath(new URL('./dispatcher-process.ts', import.meta.url));
  const child = spawn(
    process.execPath,
    [entry, JSON.stringify({ ...task, secret: SECRET } satisfies DispatcherTask)],
    {
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  children.push(child);
  return child;
}

/** Attempt numbers and body hashes of each event. */
function byEvent(arrivals: readonly Arrival[]) {
  const events = new Map<string, { attempts: number[]; hashes: Set<string> }>();
  for (const { eventId, attempt, hash } of arrivals) {
    const seen = events.get(eventId) ?? { attempts: [], hashes: new Set() };
    seen.attempts.push(attempt);
    seen.hashes.add(hash);
    events.set(eventId, seen);
  }
  return events;
}

bothDatabases('deliveries', databases => {
  const setUp = async () => startSetting(await databases.create('payments'), systemClock);

  describe('when the process is killed', () => {
    test.for(STEPS)('%s, every event still arrives, always with the same body', async step => {
      await using receiver = await startReceiver();
      await using setting = await setUp();
      const webhook = await setting.webhook(receiver.url);
      const events = await setting.happen(webhook, EVENTS);
      const database = setting.options;
      const crashing = dispatcherProcess({ database, crash: { step, time: TIMES[step] } });

      const [, signal] = await once(crashing, 'exit');
      const before = byEvent(receiver.arrivals);
      dispatcherProcess({ database, clockOffsetMs: LEASE_MS + 1 });
      const all = await setting.deliveriesOnce(webhook, allArrived);

      expect(signal).toBe('SIGKILL');
      expect(before.size).toBeLessThan(EVENTS);
      expect(all).toHaveLength(EVENTS);
      expect(allArrived(all)).toBe(true);
      const after = byEvent(receiver.arrivals);
      expect([...after.keys()].sort()).toEqual(events.map(({ id }) => id).sort());
      for (const { attempts, hashes } of after.values()) {
        expect(hashes.size).toBe(1);
        expect(new Set(attempts).size).toBe(attempts.length);
      }
      expect(await setting.current(webhook)).toMatchObject({ successCount: EVENTS, failureCount: 0 });
    });

    test('repeatedly, no event is lost', async () => {
      await using receiver = await startReceiver();
      await using setting = await setUp();
      const webhook = await setting.webhook(receiver.url);
      await setting.happen(webhook, 1);
      const database = setting.options;

      for (const round of CRASHES) {
        const clockOffsetMs = round * (LEASE_MS + 1);
        const crashing = dispatcherProcess({
          database,
          clockOffsetMs,
          crash: { step: 'after send', time: 1 },
        });
        await once(crashing, 'exit');
      }
      dispatcherProcess({ database, clockOffsetMs: CRASHES.length * (LEASE_MS + 1) });

      expect(await setting.deliveriesOnce(webhook, allArrived)).toMatchObject([
        { attempts: CRASHES.length + 1, automaticFailures: 0, hasFailed: false },
      ]);
      expect(receiver.arrivals.map(({ attempt }) => attempt)).toEqual(
        [...CRASHES, CRASHES.length].map(round => round + 1),
      );
    });
  });

  test('are sent once each by two concurrent processes', async () => {
    await using receiver = await startReceiver(async () => {
      await delay(5);
      return 204;
    });
    await using setting = await setUp();
    const webhooks = [await setting.webhook(receiver.url), await setting.webhook(receiver.url)];
    for (const webhook of webhooks) await setting.happen(webhook, 150);
    for (let i = 0; i < 2; i += 1) dispatcherProcess({ database: setting.options });

    for (const webhook of webhooks) {
      expect(allArrived(await setting.deliveriesOnce(webhook, allArrived))).toBe(true);
    }

    expect(receiver.arrivals).toHaveLength(300);
    const seen = receiver.arrivals.map(({ eventId, attempt }) => `${eventId} ${attempt}`);
    expect(new Set(seen).size).toBe(300);
  });

  test('continue after database outages', async () => {
    await using receiver = await startReceiver();
    await using setting = await setUp();
    const webhook = await setting.webhook(receiver.url);
    const events = await setting.happen(webhook, 300);
    const db = openDatabase(named(setting.options));
    const dispatcher = setting.dispatch({ db });

    for (let times = 0; times < 4; times += 1) {
      await until(
        async () => receiver.arrivals.length,
        count => count > times * 50,
      );
      await takeAway(setting.options);
    }
    const all = await setting.deliveriesOnce(webhook, allArrived);

    expect(all).toHaveLength(300);
    expect(allArrived(all)).toBe(true);
    expect([...byEvent(receiver.arrivals).keys()].sort()).toEqual(events.map(({ id }) => id).sort());
    expect(receiver.arrivals).toHaveLength(300);
    expect(await setting.current(webhook)).toMatchObject({ successCount: 300, failureCount: 0 });
    await dispatcher.stop();
    await db.destroy();
  });
});

const NAME = 'the dispatcher under test';

/** The same database, with connections distinguishable from the test's own. */
function named(options: DatabaseOptions): DatabaseOptions {
  if (options.kind !== 'postgres') return options;
  return { ...options, url: `${options.url}&application_name=${encodeURIComponent(NAME)}` };
}

/** On PostgreSQL, ends the dispatcher's connections. On SQLite, holds the write lock for a while. */
async function takeAway(options: DatabaseOptions): Promise<void> {
  const other = openDatabase(options);
  if (options.kind === 'postgres') {
    const backends = 'from pg_stat_activity where datname = current_database() and application_name = ?';
    // It may not have reconnected yet since the last time.
    const ended = await until(
      () => rowsOf(other, `select pg_terminate_backend(pid) ${backends}`, [NAME]),
      rows => rows.length > 0,
    );
    expect(ended).not.toEqual([]);
  } else {
    await transaction(other, () => delay(300));
  }
  await other.destroy();
}

function stepOf(name: string): DispatcherStep {
  const steps: readonly DispatcherStep[] = [
    'before claim',
    'after claim',
    'before send',
    'after send',
    'before result',
    'after result',
  ];
  const step = steps.find(one => one === name);
  if (step === undefined) throw new Error(`there is no step ${name}`);
  return step;
}
