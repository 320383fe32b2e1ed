import { LRUCache } from 'lru-cache';
import type { Clock } from '#lib/clock.ts';
import type { ClockAndLog } from '#lib/logger.ts';
import type { Answer, BodyOf, OperationId } from '../../port/backend.ts';
import { BackendError, isOfKind } from '../../port/backend-error.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { listOf, UnreadableRecord } from '../../upstream-json/fields.ts';
import { eachInTurns, readRecord } from '../../upstream-json/read-records.ts';
import type { RecordDepths } from './confirmations.ts';
import type { IndexingState } from './indexing.ts';

/** One Blockscout instance and the state this service keeps about it. */
export interface BlockscoutSource extends ClockAndLog {
  readonly name: string;
  readonly chainId: number;
  readonly upstream: Upstream;
  readonly depths: RecordDepths;
  readonly indexing: IndexingState;
  readonly refusals: Refusals;
  /** Time after the request in which a list may read further pages, in milliseconds. */
  readonly readOnMs: number;
  /** Called with the kind of every record that the contract cannot represent. */
  onDropped(kind: string): void;
}

/** Upstream request of an operation. */
export interface UpstreamGet {
  readonly operation: OperationId;
  /** Below the instance's API, with a leading slash. */
  readonly path: string;
  readonly signal: AbortSignal;
  readonly query?: URLSearchParams | undefined;
}

/** GETs a body and normalises it. @throws BackendError `unavailable` for an unreadable body. */
export async function read<Record>(
  source: BlockscoutSource,
  { operation, path, query, signal }: UpstreamGet,
  normalise: (body: unknown) => Record | Promise<Record>,
): Promise<Record> {
  const { body } = await source.upstream.get(path, { query, signal, endpoint: operation });
  return readRecord(source, operation, () => normalise(body));
}

/** A list of records in a body. */
interface RecordList<Item> {
  readonly list: unknown;
  /** Its name in the body; absent when it is the body. */
  readonly name?: string;
  /** Maximum number of records; by default far above that of any page. */
  readonly most?: number;
  readonly read: (item: unknown) => Item;
}

/** Pages have 50 records. Answers are built and checked in one turn of the event loop each. */
const MAX_RECORDS = 1_000;
const LOGGED_PATHS = 10;

/**
 * Reads the records of a list. Single unreadable ones are left out, counted and logged (Decision 281).
 * @throws UnreadableRecord when there are too many of them, or too many records
 */
export async function readableItems<Item>(
  { log, name: backend, chainId, onDropped }: BlockscoutSource,
  { operation, signal }: Pick<UpstreamGet, 'operation' | 'signal'>,
  { list, name = '', most = MAX_RECORDS, read }: RecordList<Item>,
): Promise<Item[]> {
  if (listOf(list).length > most) throw new UnreadableRecord(name, `has more than ${most} records`);
  const paths: string[] = [];
  const onLeftOut = ({ path }: UnreadableRecord) => void paths.push(path);
  const items = await eachInTurns(list, read, { signal, name, onLeftOut });
  if (paths.length > 0) {
    const some = paths.slice(0, LOGGED_PATHS);
    log.warn({ operation, chainId, backend, paths: some }, 'unreadable records are left out');
  }
  for (const _ of paths) onDropped('unreadable');
  return items;
}

/**
 * Reads a resource that only newer versions have. Older versions take its name for a hash.
 * @throws BackendError `unsupported` instead of their error about that hash; the message names `what`.
 */
export async function unlessUnknown<Record>(reading: Promise<Record>, what: string): Promise<Record> {
  try {
    return await reading;
  } catch (error) {
    if (!isOfKind(error, 'rejected') && !isOfKind(error, 'not_found')) throw error;
    const options = { cause: error };
    throw new BackendError('unsupported', 'no_such_answer', `its version has no ${what}`, options);
  }
}

/** Replaces "not found" by an empty body. Up to 6.9 an address without a record is a 404 (Decision 38). */
export async function orEmpty<Body>(reading: Promise<Body>, empty: Body): Promise<Body> {
  try {
    return await reading;
  } catch (error) {
    if (!isOfKind(error, 'not_found')) throw error;
    return empty;
  }
}

/** Builds an answer, with its depth in the chain when that is known. */
export function settledAnswer<Id extends OperationId>(
  body: BodyOf<Id>,
  confirmations: number | undefined,
): Answer<BodyOf<Id>> {
  return confirmations === undefined ? { body } : { body, confirmations };
}

/** Filters that an instance refused. They are not sent again for an hour; the instance may be upgraded later. */
export interface Refusals {
  has(operation: string, filters: Readonly<Record<string, string>>): boolean;
  add(operation: string, filters: Readonly<Record<string, string>>): void;
}

const REMEMBERED_MS = 3_600_000;
const MAX_REMEMBERED = 1_000;

export function refusals(clock: Clock): Refusals {
  const until = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  const keyOf = (operation: string, filters: object) => `${operation} ${JSON.stringify(filters)}`;
  return {
    has: (operation, filters) => (until.get(keyOf(operation, filters)) ?? 0) > clock.now(),
    add(operation, filters) {
      until.set(keyOf(operation, filters), clock.now() + REMEMBERED_MS);
    },
  };
}

/**
 * Returns the record if its field `name` is the requested hash, number or id. A proxy may mix up an instance's answers,
 * and a wrong answer would be cached under this request.
 * @throws UnreadableRecord
 */
export function mustBe<Name extends string, Item extends { readonly [Key in Name]?: unknown }>(
  asked: string,
  name: Name,
  record: Item,
): Item {
  return mustName(asked, [record[name]], name, record);
}

/** Like `mustBe`, for an identifier that may be in one of several fields. `path` leads to the first of them. */
export function mustName<Item>(asked: string, names: readonly unknown[], path: string, record: Item): Item {
  if (names.some(name => String(name).toLowerCase() === asked.toLowerCase())) return record;
  throw new UnreadableRecord(path, 'is of another record than the one asked for', { isMixedUp: true });
}
