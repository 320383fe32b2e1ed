import { type RunningWorker, startWorker, type Worker, type WorkerOptions } from '../lib/worker.ts';
import type { Db, Handle } from './open.ts';

/** Announces a topic once what was written through the handle is committed; never when it is rolled back. */
export function announce(handle: Handle, topic: string): void {
  if (handle.isTransaction) handle.announced.add(topic);
  else handle.wakeups.announce([topic]);
}

/** Rest of a worker whose work is announced, in milliseconds. */
const LISTENING_PAUSE_MS = 60_000;

/** First rest after a failure: no announcement cuts it short, so it cannot be as long as the rest between looks. */
export const FAILURE_PAUSE_MS = 200;

/** Rest of a worker that looks every `pauseMs` where announcements of other processes do not arrive. */
export function lookPauseMs(db: Db, pauseMs: number): number {
  return db.wakeups.isListening() ? Math.max(pauseMs, LISTENING_PAUSE_MS) : pauseMs;
}

/** Starts a worker that looks for work when its topic is announced, and after each pause. */
export function startWokenWorker(
  worker: Worker,
  { db, topic, ...options }: WorkerOptions & { db: Db; topic: string },
): RunningWorker {
  const running = startWorker(worker, { failurePauseMs: FAILURE_PAUSE_MS, ...options });
  const forgetTopic = db.wakeups.on(topic, running.nudge);
  return {
    nudge: running.nudge,
    async stop() {
      forgetTopic();
      await running.stop();
    },
  };
}
