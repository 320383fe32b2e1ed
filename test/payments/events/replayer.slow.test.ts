import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { systemClock } from '#lib/clock.ts';
import { positionBefore } from '#payments/events/missed-events.ts';
import { replayStore } from '#payments/events/replay-store.ts';
import { replayer } from '#payments/events/replayer.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { bothDatabases } from '../../support/databases.ts';
import { log, SECRET, type Setting, seals, startSetting } from '../webhooks/setting.ts';
import type { ReplayerTask } from './replayer-process.ts';

const EVENTS = 170;
const NOWHERE = 'http://127.0.0.1:9/hook';

/** Runs a replayer in its own process; returns the signal that ended it, or else its exit code. */
async function ended(task: Omit<ReplayerTask, 'secret'>): Promise<unknown> {
  const entry = fileURLToPath(new URL('./replayer-process.ts', import.meta.url));
  const told = JSON.stringify({ ...task, secret: SECRET } satisfies ReplayerTask);
  const child = spawn(process.execPath, [entry, told], { stdio: ['ignore', 'inherit', 'inherit'] });
  const [code, signal] = await once(child, 'exit');
  return signal ?? code;
}

/** A webhook that missed events, with the ids of those events. */
async function missing(setting: Setting, count: number) {
  const first = await setting.webhook(NOWHERE);
  const events = await setting.happen(first, count);
  const { organizationId, mode, id: webhookId } = await setting.webhook(NOWHERE, first);
  const begin = (remaining = count) =>
    transaction(setting.db, handle => {
      const after = positionBefore(0);
      const until = systemClock.now() + 1;
      const replay = { organizationId, mode, webhookId, after, until, remaining };
      return replayStore(handle).insert(replay, systemClock.now());
    });
  const deliveries = async () => {
    const rows = await setting
      .db('deliveries')
      .where({ webhook_id: webhookId })
      .select('event_id', 'next_attempt_at');
    return rows.map(row => row.event_id).toSorted();
  };
  return { webhookId, ids: events.map(({ id }) => id), begin, deliveries };
}

bothDatabases('the replayer', databases => {
  test('continues where a process was killed, and creates one delivery per event', async () => {
    const options = await databases.create('payments');
    await using setting = await startSetting(options, systemClock);
    const { ids, begin, deliveries } = await missing(setting, EVENTS);
    await begin();

    const signals: unknown[] = [];
    const counts: number[] = [];
    for (const killedAtLook of [4, 8, 7, undefined]) {
      signals.push(await ended({ database: options, killedAtLook }));
      counts.push((await deliveries()).length);
    }

    expect(signals).toEqual(['SIGKILL', 'SIGKILL', 'SIGKILL', 0]);
    expect(counts.slice(0, 3).every(count => count < EVENTS)).toBe(true);
    expect(counts.some(count => count > 0 && count < EVENTS)).toBe(true);
    expect(await deliveries()).toEqual(ids.toSorted());
    expect(await setting.db('webhook_replays').select('id')).toEqual([]);
  });

  test('keeps at most two hundred deliveries waiting, earliest events first', async () => {
    await using setting = await startSetting(await databases.create('payments'), systemClock);
    const { webhookId, ids, begin, deliveries } = await missing(setting, 230);
    await begin(220);
    const worker = replayer({ db: setting.db, seals, clock: systemClock, log });
    const run = async () => {
      await setting.db('webhook_replays').update({ next_attempt_at: 0 });
      while ((await worker.runOnce(AbortSignal.timeout(PATIENCE_MS))) > 0);
    };

    await run();
    const waiting = await deliveries();
    await setting.db('deliveries').where({ webhook_id: webhookId }).update({ next_attempt_at: null });
    await run();

    expect(waiting).toEqual(ids.slice(0, 200).toSorted());
    expect(await deliveries()).toEqual(ids.slice(0, 220).toSorted());
  });
});
