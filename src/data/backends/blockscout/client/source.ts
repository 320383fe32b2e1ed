import { LRUCache } from 'lru-cache';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { Answer, BodyOf, OperationId } from '../../port/backend.ts';
import { BackendError, isOfKind } from '../../port/backend-error.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { readRecord, Unreadable } from '../../upstream-json/fields.ts';
import type { Settlement } from './confirmations.ts';
import type { IndexingState } from './indexing.ts';

/** One Blockscout instance and what this service has learnt of it. */
export interface BlockscoutSource {
  readonly name: string;
  readonly chainId: number;
  readonly upstream: Upstream;
  readonly settlement: Settlement;
  readonly indexing: IndexingState;
  readonly refusals: Refusals;
  readonly clock: Clock;
  /** How long after it was asked for a list may still read on, in milliseconds. */
  readonly readOnMs: number;
  readonly log: Logger;
  /** Told of every record that the contract has no place for. */
  onDropped(kind: string): void;
}

/** How an operation is asked for upstream. */
export interface UpstreamGet {
  readonly operation: OperationId;
  /** Below the instance's API, with a leading slash. */
  readonly path: string;
  readonly signal: AbortSignal;
  readonly query?: URLSearchParams | undefined;
}

/** Gets a body and reads it. @throws BackendError `unavailable` for one that cannot be read: it goes to nobody half-made. */
export async function read<Record>(
  source: BlockscoutSource,
  { operation, path, query, signal }: UpstreamGet,
  normalise: (body: unknown) => Record,
): Promise<Record> {
  const { body } = await source.upstream.get(path, { query, signal });
  return readRecord(source, operation, () => normalise(body));
}

/**
 * What only newer versions have, where older ones take its name for a hash.
 * @throws BackendError `unsupported` in place of what they say of that hash; `what` is said to be missing.
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

/** An answer, with how deep in the chain its record lies where that is known. */
export function settledAnswer<Id extends OperationId>(
  body: BodyOf<Id>,
  confirmations: number | undefined,
): Answer<BodyOf<Id>> {
  return confirmations === undefined ? { body } : { body, confirmations };
}

/** Filters that an instance refused: they are not sent again for an hour, for it may be upgraded meanwhile. */
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
 * The record, if its field `name` is the hash, number or id that was asked for. Whatever stands before an instance may
 * mix up its answers, and one that is right for another question would be kept as the answer to this one.
 * @throws Unreadable
 */
export function mustBe<Name extends string, Item extends { readonly [Key in Name]?: unknown }>(
  asked: string,
  name: Name,
  record: Item,
): Item {
  return mustName(asked, [record[name]], name, record);
}

/** The same of a record that names what was asked for in one of several places; `path` leads to the first of them. */
export function mustName<Item>(asked: string, names: readonly unknown[], path: string, record: Item): Item {
  if (names.some(name => String(name).toLowerCase() === asked.toLowerCase())) return record;
  throw new Unreadable(path, 'is of another record than the one asked for');
}
