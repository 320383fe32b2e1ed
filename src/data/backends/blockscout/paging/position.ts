import { isObject } from '#lib/json.ts';
import { BackendError } from '../../port/backend-error.ts';
import type { CursorPosition } from '../../port/cursor.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { type Fields, Unreadable } from '../../upstream-json/fields.ts';

/** Echoed by versions before 12; a key of ours must never be seen in a cursor. */
const SECRETS = new Set(['key', 'apikey', 'api_key']);
/** The length of a page, which since version 12 is read as the size wanted. */
const PAGE_LENGTH = 'items_count';
/** What every generation's cursors are made of; a cursor is not signed, so nothing else is sent for a client. */
const KEY = /^[a-z][a-z0-9_]{0,63}(\[[a-z][a-z0-9_]{0,63}\]){0,3}$/;
const MAX_KEYS = 48;
/** Names of tokens are parts of positions, and anybody may give a token any name. */
const MAX_LENGTH = 2048;
/** Of a cursor as the contract has it, in characters. */
const MAX_CURSOR = 4096;

/** What upstream's position must not bring along. */
export interface Without {
  /** Older versions echo them, and they are sent again with every page. */
  readonly filters: Readonly<Record<string, string>>;
  /** Whether `items_count` is the position, and not the length of a page. */
  readonly countsItems: boolean;
  /** Versions before 9.3 echo every parameter that they do not know, keys of access included. */
  readonly upstream: Pick<Upstream, 'ownParameters' | 'isSecret'>;
}

/**
 * Upstream's `next_page_params` as a position: nested keys in brackets, nulls kept. Undefined when nothing is left.
 * @throws Unreadable for a list, which no version has there: without it the walk would go on elsewhere.
 */
export function positionIn(params: Fields, without: Without): CursorPosition | undefined {
  const position: Record<string, string | number | null> = {};
  collect(params, without, position, name => name);
  return Object.keys(position).length === 0 ? undefined : position;
}

/** The query of one page. @throws BackendError `rejected` for a position that no version writes. */
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

/** Whether a position of upstream's, with the cursor that holds it, will be taken back by `pageQuery`. */
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
 * A position from the document's keys, for a client that hands them back without `cursor`; undefined when it gave none.
 * `sets` are the keys that make a position, each set by itself. Decision 4.
 * @throws BackendError `rejected` when some are given but no set is whole.
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

/** What to throw for a cursor whose keys are not what a back end writes. */
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
    if (Array.isArray(value)) throw new Unreadable(`next_page_params.${name}`, 'is a list');
    if (isObject(value)) collect(value, without, position, inner => `${name}[${inner}]`);
    else if (typeof value !== 'string' || !upstream.isSecret(value)) position[name] = sendable(value);
  }
}

function sendable(value: unknown): string | number | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : String(value);
}
