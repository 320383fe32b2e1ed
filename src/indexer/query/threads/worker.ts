import { getHeapStatistics } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { QueryTooLarge } from '../query.ts';
import {
  type Engine,
  openEngine,
  type WorkerMessage,
  type WorkerOutcome,
  type WorkerReply,
  type WorkerRequest,
  type WorkerSetup,
} from './engine.ts';

/** The thread of a query engine: answers one query after the other over its own connections. */

class Cancelled extends Error {}

const { cancelled, cacheBytes, grownBytes }: WorkerSetup = workerData;
/** By file. */
const engines = new Map<string, Engine>();

parentPort?.on('message', (message: WorkerMessage) => {
  if (message.kind === 'query') reply({ ...outcomeOf(message), hasGrown: hasGrown() });
  else close();
});
reply({ kind: 'ready' });

function reply(message: WorkerReply): void {
  parentPort?.postMessage(message);
}

/** The thread ends when its port is closed. */
function close(): void {
  for (const engine of engines.values()) engine.close();
  parentPort?.close();
}

function outcomeOf({ file, query }: WorkerRequest): WorkerOutcome {
  try {
    return { kind: 'answer', answer: engineOf(file).run(query) };
  } catch (error) {
    if (error instanceof QueryTooLarge) return { kind: 'tooLarge', reason: error.reason };
    if (error instanceof Cancelled) return { kind: 'cancelled' };
    return {
      kind: 'failed',
      message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  }
}

function engineOf(file: string): Engine {
  const open = engines.get(file);
  if (open !== undefined) return open;
  const engine = openEngine({
    file,
    cacheBytes,
    tick() {
      if (Atomics.load(cancelled, 0) !== 0) throw new Cancelled();
    },
  });
  engines.set(file, engine);
  return engine;
}

/** A heap that has grown stays large: the collector of an idle thread has no reason to run. */
function hasGrown(): boolean {
  const { total_heap_size: heap, malloced_memory: malloced, external_memory: external } = getHeapStatistics();
  return heap + malloced + external > grownBytes;
}
