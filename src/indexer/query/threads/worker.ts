import { getHeapStatistics } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { answerOf } from '#lib/groups/group-answer.ts';
import { toJson } from '#lib/json.ts';
import { Unavailable } from '#lib/unavailable.ts';
import { Cancelled, type Engine } from '../engine.ts';
import {
  type Decoding,
  type GroupsAnswer,
  type GroupsQuery,
  QueryTooLarge,
  type WrittenGroups,
} from '../query.ts';
import type { RowDecoder } from '../records/record-writers.ts';
import { recordsPage } from '../records/records-page.ts';
import type {
  ThreadAnswer,
  WorkerMessage,
  WorkerOutcome,
  WorkerReply,
  WorkerRequest,
  WorkerSetup,
} from './messages.ts';
import { openEngine } from './open-engine.ts';

/** The thread of a query engine: answers one query after the other over its own connections. */

const { cancelled, deadlineMs, cacheBytes, grownBytes }: WorkerSetup = workerData;
const isCancelled = () => Atomics.load(cancelled, 0) !== 0;
/** By the text of their options. */
const indexes = new Map<string, OpenIndex>();
/** The engine of the query that runs. */
let running: Engine | undefined;
let last: Promise<void> = Promise.resolve();

interface OpenIndex {
  readonly engine: Engine;
  /** Makes the decoder of a page; undefined until ABIs came. */
  decoderOf?: (decoding: Decoding) => RowDecoder;
}

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
  const isPage = message.kind === 'answer' && 'json' in message.answer;
  parentPort?.postMessage(message, isPage ? [message.answer.json.buffer] : []);
}

/** The thread ends when its port is closed. */
async function close(): Promise<void> {
  await Promise.all([...indexes.values()].map(({ engine }) => engine.close()));
  parentPort?.close();
}

async function answer(request: WorkerRequest): Promise<void> {
  const outcome = await outcomeOf(request);
  running = undefined;
  reply({ ...outcome, hasGrown: hasGrown() });
}

async function outcomeOf(request: WorkerRequest): Promise<WorkerOutcome> {
  try {
    return { kind: 'answer', answer: await threadAnswer(request) };
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

async function threadAnswer({ database, query, abis }: WorkerRequest): Promise<ThreadAnswer> {
  const index = await indexOf(database);
  // Loaded by the first query that decodes: it takes longer to load than all else here.
  if (abis !== undefined)
    index.decoderOf = (await import('../records/record-decoder.ts')).recordDecoders(JSON.parse(abis));
  running = index.engine;
  const answer = await running.run(query);
  if ('groups' in answer) return query.kind === 'groups' ? groupsAnswer(answer, query) : answer;
  if (query.kind !== 'rows') throw new TypeError('Rows answer no query for groups.');
  return recordsPage(answer, query, query.decoding && index.decoderOf?.(query.decoding));
}

function groupsAnswer(answer: GroupsAnswer, { page }: GroupsQuery): GroupsAnswer | WrittenGroups {
  if (page === undefined) return answer;
  const { rows, total } = answerOf(page.plan, [answer.groups], page);
  return { json: new TextEncoder().encode(toJson(rows)), total };
}

async function indexOf(database: WorkerRequest['database']): Promise<OpenIndex> {
  const name = JSON.stringify(database);
  const open = indexes.get(name);
  if (open !== undefined) return open;
  const index: OpenIndex = { engine: await openEngine(database, { isCancelled, deadlineMs, cacheBytes }) };
  indexes.set(name, index);
  return index;
}

/** A heap that has grown stays large: the collector of an idle thread has no reason to run. */
function hasGrown(): boolean {
  const { total_heap_size: heap, malloced_memory: malloced, external_memory: external } = getHeapStatistics();
  return heap + malloced + external > grownBytes;
}
