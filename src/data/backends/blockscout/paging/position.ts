import { isObject } from '#lib/json.ts';
import { BackendError } from '../../port/backend-error.ts';
import type { CursorPosition } from '../../port/cursor.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { type Fields, UnreadableRecord } from '../../upstream-json/fields.ts';

/** Names of API keys. Versions before 12 echo parameters, and our keys must never appear in a cursor. */
const SECRETS = new Set(['key', 'apikey', 'api_key']);
/** Length of a page. Since version 12 upstream reads it as the requested size. */
const PAGE_LENGTH = 'items_count';
/** Key names of every generation's positions. Cursors are not signed, so no other names are sent upstream. */
const KEY = /^[a-z][a-z0-9_]{0,63}(\[[a-z][a-z0-9_]{0,63}\]){0,3}$/;
const MAX_KEYS = 48;
/** Maximum length of a value. Positions contain token names, which may be of any length. */
const MAX_LENGTH = 2048;
/** Maximum length of a cursor in the contract, in characters. */
const MAX_CURSOR = 4096;

/** Parameters to remove from upstream's position. */
export interface Without {
  /** Filters. Older versions echo them, and they are sent again with every page anyway. */
  readonly filters: Readonly<Record<string, string>>;
  /** True when `items_count` is a position and not the length of a page. */
  readonly countsItems: boolean;
  /** Tests for our own parameters and keys. Versions before 9.3 echo every unknown parameter, API keys included. */
  readonly upstream: Pick<Upstream, 'ownParameters' | 'isSecret'>;
}

/**
 * Converts upstream's `next_page_params` to a position: nested keys in brackets, nulls kept. Undefined when nothing is
 * left.
 * @throws UnreadableRecord for a list. No version has one, and without it the walk would continue at the wrong place.
 */
export function positionIn(params: Fields, without: Without): CursorPosition | undefined {
  const position: Record<string, string | number | null> = {};
  collect(params, without, position, name => name);
  return Object.keys(position).length === 0 ? undefined : position;
}

/** Builds the query of one page. @throws BackendError `rejected` for a position that no version writes. */
export function pageQuery(
  position: CursorPosition | undefined,
  filters: Readonly<Record<string, string>>,
  ownParameters: ReadonlySet<string>,
): URLSearchParams {
  const query = new URLSearchParams(filters);
  if (!isWritten(position ?? {})) throw notOurs();
  for (const [name, value] of Object.entries(position ?? {})) {
    if (name in filters || ownParameters.has(name)) throw notOurs();
    query.set(name, String(value));
  }
  return query;
}

/** True when `pageQuery` will accept this position and its cursor. */
export function isTakenBack(position: CursorPosition, cursor: string): boolean {
  return isWritten(position) && cursor.length <= MAX_CURSOR;
}

function isWritten(position: CursorPosition): boolean {
  const keys = Object.entries(position);
  return (
    keys.length <= MAX_KEYS &&
    keys.every(([name, value]) => KEY.test(name) && !SECRETS.has(name) && String(value).length <= MAX_LENGTH)
  );
}

/**
 * Builds a position from the document's keys, for a client that sends them without `cursor`. Undefined when it sent
 * none. Each of `sets` is a complete position (Decision 4).
 * @throws BackendError `rejected` when some keys are given but no set is complete.
 */
export function positionFrom(
  query: Fields,
  sets: readonly (readonly string[])[],
  others: readonly string[] = [],
): CursorPosition | undefined {
  const known = [...new Set([...sets.flat(), ...others])];
  const given = known.filter(name => query[name] !== undefined);
  const [first] = given;
  if (first === undefined) return undefined;
  const whole = sets.some(names => names.every(name => query[name] !== undefined));
  if (!whole) {
    const wanted = sets.find(names => names.includes(first)) ?? sets[0] ?? [];
    const lost = wanted.find(name => query[name] === undefined) ?? 'cursor';
    throw new BackendError('rejected', 'bad_input', `${lost}: must be given together with ${first}`);
  }
  return Object.fromEntries(given.map(name => [name, sendable(query[name])]));
}

/** Error for a cursor with keys that no back end writes. */
export function notOurs(): BackendError {
  return new BackendError(
    'rejected',
    'bad_input',
    'cursor: must be the cursor of an earlier page of this list',
  );
}

function collect(
  params: Fields,
  without: Without,
  position: Record<string, string | number | null>,
  nameOf: (key: string) => string,
): void {
  const { filters, countsItems, upstream } = without;
  for (const [key, value] of Object.entries(params)) {
    const name = nameOf(key);
    if (!KEY.test(name) || SECRETS.has(name) || upstream.ownParameters.has(name)) continue;
    if (name in filters || (name === PAGE_LENGTH && !countsItems)) continue;
    if (Array.isArray(value)) throw new UnreadableRecord(`next_page_params.${name}`, 'is a list');
    if (isObject(value)) collect(value, without, position, inner => `${name}[${inner}]`);
    else if (typeof value !== 'string' || !upstream.isSecret(value)) position[name] = sendable(value);
  }
}

function sendable(value: unknown): string | number | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : String(value);
}
