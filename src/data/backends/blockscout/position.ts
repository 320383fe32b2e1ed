import { BackendError } from '../../port/backend-error.ts';
import type { CursorPosition } from '../../port/cursor.ts';
import { type Fields, isFields } from '../../upstream/fields.ts';

/** Echoed by versions before 12; a key of ours must never be seen in a cursor. */
const SECRETS = new Set(['key', 'apikey', 'api_key']);
/** The length of a page, which since version 12 is read as the size wanted. */
const PAGE_LENGTH = 'items_count';
/** What every generation's cursors are made of; a cursor is not signed, so nothing else is sent for a client. */
const KEY = /^[a-z][a-z0-9_]{0,63}(\[[a-z][a-z0-9_]{0,63}\]){0,3}$/;
const MAX_KEYS = 48;
const MAX_LENGTH = 512;

/**
 * Upstream's `next_page_params` as a position: nested keys in brackets, nulls kept, and none of the filters, which older
 * versions echo and which are sent again with every page. Undefined when nothing is left. `countsItems` is for the list
 * whose position is the number of items so far.
 */
export function positionIn(
  params: Fields,
  { filters, countsItems }: { filters: Readonly<Record<string, string>>; countsItems: boolean },
): CursorPosition | undefined {
  const position: Record<string, string | number | null> = {};
  collect(params, position, name => name);
  for (const name of Object.keys(filters)) delete position[name];
  if (!countsItems) delete position[PAGE_LENGTH];
  return Object.keys(position).length === 0 ? undefined : position;
}

/** The query of one page. @throws BackendError `rejected` for a position that no version writes. */
export function pageQuery(
  position: CursorPosition | undefined,
  filters: Readonly<Record<string, string>>,
): URLSearchParams {
  const query = new URLSearchParams(filters);
  const keys = Object.entries(position ?? {});
  if (keys.length > MAX_KEYS) throw notOurs();
  for (const [name, value] of keys) {
    const text = String(value);
    if (!KEY.test(name) || SECRETS.has(name) || name in filters || text.length > MAX_LENGTH) throw notOurs();
    query.set(name, text);
  }
  return query;
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
  position: Record<string, string | number | null>,
  nameOf: (key: string) => string,
): void {
  for (const [key, value] of Object.entries(params)) {
    const name = nameOf(key);
    if (SECRETS.has(name)) continue;
    if (isFields(value)) collect(value, position, inner => `${name}[${inner}]`);
    else if (!Array.isArray(value)) position[name] = sendable(value);
  }
}

function sendable(value: unknown): string | number | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : String(value);
}
