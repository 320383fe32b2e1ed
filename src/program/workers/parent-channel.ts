import cluster from 'node:cluster';
import { parentMessage, type WorkerMessage } from './worker-messages.ts';

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
