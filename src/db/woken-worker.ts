import { type RunningWorker, startWorker, type Worker, type WorkerOptions } from '../lib/worker.ts';
import type { Db, Handle } from './open.ts';

/** Announces a topic after the commit of the handle's transaction, and never after a rollback. */
export function announce(handle: Handle, topic: string): void {
  if (handle.isTransaction) handle.announced.add(topic);
  else handle.wakeups.announce([topic]);
}

/** Pause of a worker whose work is announced, in milliseconds. */
const LISTENING_PAUSE_MS = 60_000;

/** First pause after a failure. Announcements do not shorten it, so it must be short. */
export const FAILURE_PAUSE_MS = 200;

/** Pause of a polling worker: `pauseMs`, or longer when announcements of other processes arrive. */
export function lookPauseMs(db: Db, pauseMs: number): number {
  return db.wakeups.isListening() ? Math.max(pauseMs, LISTENING_PAUSE_MS) : pauseMs;
}

/** Starts a worker that runs when its topic is announced and after each pause. */
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
