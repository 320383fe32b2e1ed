import { constants, getPriority, setPriority } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { toJson } from '#lib/json.ts';
import { Unavailable } from '#lib/unavailable.ts';
import { answerOf } from '#query-model/group-answer.ts';
import type { WrittenGroups } from '#query-model/row-selection.ts';
import { Cancelled, type SerialEngine } from '../engine.ts';
import {
  type Decoding,
  type GroupsAnswer,
  type GroupsQuery,
  QueryTooLarge,
  type RecordsPage,
  type RowsQuery,
} from '../query.ts';
import { type RowDecoder, recordWriter } from '../records/record-writers.ts';
import type { PackedRows } from '../rows.ts';
import type {
  ThreadAnswer,
  WorkerMessage,
  WorkerOutcome,
  WorkerReply,
  WorkerRequest,
  WorkerSetup,
} from './messages.ts';
import { openEngine } from './open-engine.ts';

/** Worker thread of a query engine. Answers one query at a time over its own connections. */

const { cancelled, deadlineMs, cacheBytes, grownBytes, niceness }: WorkerSetup = workerData;
const isCancelled = () => Atomics.load(cancelled, 0) !== 0;
/** Open indexes by the JSON text of their options. */
const indexes = new Map<string, OpenIndex>();
/** Engine of the running query. */
let running: SerialEngine | undefined;
let last: Promise<void> = Promise.resolve();

interface OpenIndex {
  readonly engine: SerialEngine;
  /** Creates the decoder of a page; undefined until ABIs have been received. */
  decoderOf?: (decoding: Decoding) => RowDecoder;
}

lowerPriority();
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

/** On Linux this changes only this thread, elsewhere it would change the whole process. */
function lowerPriority(): void {
  if (niceness === 0 || process.platform !== 'linux') return;
  try {
    setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority() + niceness));
  } catch {
    // A sandbox may forbid it. The queries then run with the priority of the process.
  }
}

function reply(message: WorkerReply): void {
  const isPage = message.kind === 'answer' && 'json' in message.answer;
  parentPort?.postMessage(message, isPage ? [message.answer.json.buffer] : []);
}

/** Closes the port, which ends the thread. */
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
  // Loaded by the first query that decodes, because it takes longer to load than the rest of this thread.
  if (abis !== undefined)
    index.decoderOf = (await import('../records/record-decoder.ts')).recordDecoders(JSON.parse(abis));
  running = index.engine;
  const answer = await running.run(query);
  if ('groups' in answer) return query.kind === 'groups' ? groupsAnswer(answer, query) : answer;
  if (query.kind !== 'rows') throw new TypeError('A query for groups was answered with rows.');
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

/**
 * True when the heap exceeds its limit. It stays large: the garbage collector has no reason to run in an idle thread.
 */
function hasGrown(): boolean {
  const { total_heap_size: heap, malloced_memory: malloced, external_memory: external } = getHeapStatistics();
  return heap + malloced + external > grownBytes;
}

/** Serializes a page of rows as JSON records. Without a decoder they have no `decoded`. */
function recordsPage(
  { fields, rows, total, isCapped }: PackedRows,
  { entity }: RowsQuery,
  decoder?: RowDecoder,
): RecordsPage {
  const write = recordWriter({ entity, fields, decoder });
  // The engine concatenates the pieces only when the text is encoded.
  let records = '';
  for (const row of rows) records += records === '' ? write(row) : `,${write(row)}`;
  // A buffer of its own, so that it can be transferred to another thread.
  const json = new TextEncoder().encode(`[${records}]`);
  return { json, total, isCapped };
}
