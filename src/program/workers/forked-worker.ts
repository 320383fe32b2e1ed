import cluster, { type Worker } from 'node:cluster';
import { type WorkerPart, workerVariables } from '#config/environment.ts';
import { inTime } from '#lib/in-time.ts';
import type { Announcement } from '#lib/logger.ts';
import { type ParentMessage, type Subject, workerMessage } from './parent-channel.ts';
import type { Exit, WorkerProcess } from './supervisor.ts';

/** A worker process forked by this process and connected by an IPC channel. */
export interface ForkedWorker extends WorkerProcess {
  /** Its announcement, once it is ready. */
  readonly ready: Promise<Announcement>;
  /** True once its services are open. */
  isOpen(): boolean;
  /** Ends its readiness. It goes on answering requests. */
  leave(): void;
  /** Asks the worker about itself. Rejects when no answer comes in time. */
  ask(subject: Subject): Promise<unknown>;
}

/** Longer than a worker takes to answer while its back ends are silent. */
const ANSWER_WITHIN_MS = 3_000;

/**
 * Forks this program for a part of its work. This process accepts the connections and passes them to the workers in
 * turn, so that no waiting connection is lost when a worker starts or ends.
 */
export function forkedWorker(part: WorkerPart): ForkedWorker {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  try {
    return connected(cluster.fork(workerVariables(part)));
  } catch (error) {
    return unstarted(error);
  }
}

function connected(worker: Worker): ForkedWorker {
  const opened = Promise.withResolvers<void>();
  const ready = Promise.withResolvers<Announcement>();
  const questions = new Map<number, (answer: unknown) => void>();
  let isOpen = false;
  let asked = 0;
  worker.on('message', received => {
    const message = workerMessage(received);
    if (message?.tollgate === 'opened') {
      isOpen = true;
      opened.resolve();
    } else if (message?.tollgate === 'ready') ready.resolve(message);
    else if (message !== undefined) questions.get(message.id)?.(message.answer);
  });
  // A message to a worker that just ended raises this event in addition to its callback.
  worker.on('error', () => undefined);
  return {
    pid: worker.process.pid,
    opened: opened.promise,
    isOpen: () => isOpen,
    ready: ready.promise,
    exited: exitOf(worker),
    leave: () => send(worker, { tollgate: 'leave' }),
    stop: () => send(worker, { tollgate: 'stop' }),
    kill: () => void worker.process.kill('SIGKILL'),
    async ask(subject) {
      asked += 1;
      const id = asked;
      const answer = Promise.withResolvers<unknown>();
      questions.set(id, answer.resolve);
      send(worker, { tollgate: 'question', id, subject });
      try {
        return await inTime(answer.promise, ANSWER_WITHIN_MS);
      } finally {
        questions.delete(id);
      }
    },
  };
}

/** Worker without a process. Node throws for some reasons, for example too little memory, and reports the others. */
function unstarted(err: unknown): ForkedWorker {
  const never = new Promise<never>(() => {});
  return {
    pid: undefined,
    opened: never,
    isOpen: () => false,
    ready: never,
    exited: Promise.resolve({ code: null, signal: null, err }),
    leave: () => undefined,
    stop: () => undefined,
    kill: () => undefined,
    ask: () => Promise.reject(err),
  };
}

function exitOf(worker: Worker): Promise<Exit> {
  return new Promise(resolve => {
    worker.once('exit', (code: number | null, signal: string | null) => resolve({ code, signal }));
    // Node reports no exit of a process that could not be started, for example with too many open files.
    worker.once('error', err => {
      if (worker.process.pid === undefined) resolve({ code: null, signal: null, err });
    });
  });
}

/** Sends a message. Ignores a closed channel, because the exit of the worker is reported anyway. */
function send(worker: Worker, message: ParentMessage): void {
  if (worker.isConnected()) worker.send(message, () => undefined);
}
