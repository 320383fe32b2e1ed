import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Worker } from 'node:worker_threads';

/** Calls `onStart` with each thread that the process starts, before its first message, until disposed of. */
export function watchThreads(onStart: (worker: Worker) => void): Disposable {
  const onMessage = (message: unknown) => {
    if (isStart(message)) onStart(message.worker);
  };
  subscribe('worker_threads', onMessage);
  return { [Symbol.dispose]: () => unsubscribe('worker_threads', onMessage) };
}

/** Counts the started and the ended threads of the process until disposed of. */
export function countThreads(): Disposable & { readonly threads: { started: number; ended: number } } {
  const threads = { started: 0, ended: 0 };
  const watched = watchThreads(worker => {
    threads.started += 1;
    worker.once('exit', () => {
      threads.ended += 1;
    });
  });
  return { ...watched, threads };
}

function isStart(message: unknown): message is { worker: Worker } {
  return (
    typeof message === 'object' && message !== null && 'worker' in message && message.worker instanceof Worker
  );
}
