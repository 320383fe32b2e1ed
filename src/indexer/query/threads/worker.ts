import { getHeapStatistics } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { Unavailable } from '#lib/unavailable.ts';
import { Cancelled, type Engine } from '../engine.ts';
import { QueryTooLarge } from '../query.ts';
import type { WorkerMessage, WorkerOutcome, WorkerReply, WorkerRequest, WorkerSetup } from './messages.ts';
import { openEngine } from './open-engine.ts';

/** The thread of a query engine: answers one query after the other over its own connections. */

const { cancelled, deadlineMs, cacheBytes, grownBytes }: WorkerSetup = workerData;
const isCancelled = () => Atomics.load(cancelled, 0) !== 0;
/** By the text of their options. */
const engines = new Map<string, Engine>();
/** The engine of the query that runs. */
let running: Engine | undefined;
let last: Promise<void> = Promise.resolve();

parentPort?.on('message', (message: WorkerMessage) => {
  switch (message.kind) {
    case 'query':
      last = answer(message);
      return;
    case 'cancel':
      running?.cancel();
      return;
    case 'close':
      running?.cancel();
      void last.then(close);
      return;
  }
});
reply({ kind: 'ready' });

function reply(message: WorkerReply): void {
  parentPort?.postMessage(message);
}

/** The thread ends when its port is closed. */
async function close(): Promise<void> {
  await Promise.all([...engines.values()].map(engine => engine.close()));
  parentPort?.close();
}

async function answer(request: WorkerRequest): Promise<void> {
  const outcome = await outcomeOf(request);
  running = undefined;
  reply({ ...outcome, hasGrown: hasGrown() });
}

async function outcomeOf({ database, query }: WorkerRequest): Promise<WorkerOutcome> {
  try {
    running = await engineOf(database);
    return { kind: 'answer', answer: await running.run(query) };
  } catch (error) {
    if (error instanceof QueryTooLarge) return { kind: 'tooLarge', reason: error.reason };
    if (error instanceof Cancelled) return { kind: 'cancelled' };
    if (error instanceof Unavailable) return { kind: 'unavailable', message: error.message };
    return {
      kind: 'failed',
      message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  }
}

async function engineOf(database: WorkerRequest['database']): Promise<Engine> {
  const name = JSON.stringify(database);
  const open = engines.get(name);
  if (open !== undefined) return open;
  const engine = await openEngine(database, { isCancelled, deadlineMs, cacheBytes });
  engines.set(name, engine);
  return engine;
}

/** A heap that has grown stays large: the collector of an idle thread has no reason to run. */
function hasGrown(): boolean {
  const { total_heap_size: heap, malloced_memory: malloced, external_memory: external } = getHeapStatistics();
  return heap + malloced + external > grownBytes;
}
