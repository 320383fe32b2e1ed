import { parentPort, workerData } from 'node:worker_threads';
import { openEngine, type Query } from './engine.ts';
import { QueryTooLarge } from './query.ts';
import type { WorkerReply, WorkerRequest, WorkerSetup } from './worker-messages.ts';

/** The thread of a query engine: answers one query after the other over its own connection. */

class Cancelled extends Error {}

const { file, cancelled }: WorkerSetup = workerData;
const engine = openEngine({
  file,
  tick() {
    if (Atomics.load(cancelled, 0) !== 0) throw new Cancelled();
  },
});

parentPort?.on('message', ({ query }: WorkerRequest) => {
  parentPort?.postMessage(replyTo(query));
});

function replyTo(query: Query): WorkerReply {
  try {
    return { kind: 'answer', answer: engine.run(query) };
  } catch (error) {
    if (error instanceof QueryTooLarge) return { kind: 'tooLarge', reason: error.reason };
    if (error instanceof Cancelled) return { kind: 'cancelled' };
    return {
      kind: 'failed',
      message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  }
}
