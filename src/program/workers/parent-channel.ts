import cluster from 'node:cluster';
import { isPlainObject } from '#lib/json.ts';
import type { Announcement } from '#lib/logger.ts';

/** Sends a message to the parent. Ignores a parent that has ended. */
export function tellParent(message: WorkerMessage): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

/** Resolves when the parent stops this worker or has ended. Requests in flight are finished in both cases. */
export function parentStop(): Promise<string> {
  endByItself();
  // A message to a parent that just ended raises this event, too. Its end is reported below.
  cluster.worker?.on('error', () => undefined);
  return new Promise(resolve => {
    process.on('message', received => {
      if (parentMessage(received)?.tollgate === 'stop') resolve('the parent');
    });
    process.once('disconnect', () => resolve('end of the parent'));
  });
}

/** Resolves when the parent is about to stop this worker. */
export function parentLeave(): Promise<void> {
  return new Promise(resolve => {
    process.on('message', received => {
      if (parentMessage(received)?.tollgate === 'leave') resolve();
    });
  });
}

/**
 * Closes the channel to the parent, which would keep a worker alive. Does nothing in any other process. First waits for
 * an answer of the parent, because the channel may still hold connections that must go to another worker.
 */
export function leaveParent(): void {
  endByItself();
  if (process.connected) cluster.worker?.disconnect();
}

/** Keeps Node from ending a worker with code 0 as soon as its channel is closed. */
function endByItself(): void {
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
}

/** Subject of a parent's question to a worker. */
export type Subject = 'metrics' | 'checks' | 'status';

/** Message from the parent to a worker. */
export type ParentMessage =
  | { readonly tollgate: 'question'; readonly id: number; readonly subject: Subject }
  /** It is no longer ready, and `stop` follows soon. */
  | { readonly tollgate: 'leave' }
  | { readonly tollgate: 'stop' };

/** Message from a worker to the parent. */
type WorkerMessage =
  /** Its services are open. */
  | { readonly tollgate: 'opened' }
  /** It accepts requests. The announcement is for the log. */
  | ({ readonly tollgate: 'ready' } & Announcement)
  | { readonly tollgate: 'answer'; readonly id: number; readonly answer: unknown };

/** Reads a message of the parent; undefined for messages of Node and of libraries. */
export function parentMessage(message: unknown): ParentMessage | undefined {
  if (!isPlainObject(message)) return undefined;
  const { tollgate, id, subject } = message;
  if (tollgate === 'stop' || tollgate === 'leave') return { tollgate };
  const isQuestion = tollgate === 'question' && typeof id === 'number' && isSubject(subject);
  return isQuestion ? { tollgate, id, subject } : undefined;
}

/** Reads a message of a worker; undefined for messages of Node and of libraries. */
export function workerMessage(message: unknown): WorkerMessage | undefined {
  if (!isPlainObject(message)) return undefined;
  const { tollgate, id, answer, words, fields, lines } = message;
  if (tollgate === 'opened') return { tollgate };
  if (tollgate === 'answer' && typeof id === 'number') return { tollgate, id, answer };
  if (tollgate !== 'ready' || typeof words !== 'string' || !isPlainObject(fields)) return undefined;
  return { tollgate, words, fields, lines: Array.isArray(lines) ? lines.map(String) : [] };
}

function isSubject(value: unknown): value is Subject {
  return value === 'metrics' || value === 'checks' || value === 'status';
}
