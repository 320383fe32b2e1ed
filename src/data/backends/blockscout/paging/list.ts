import { isObject } from '#lib/json.ts';
import type { Answer, Ask, OperationId } from '../../port/backend.ts';
import { BackendError, isOfKind } from '../../port/backend-error.ts';
import { type CursorPosition, encodeCursor } from '../../port/cursor.ts';
import { type Fields, fieldsOf, UnreadableRecord } from '../../upstream-json/fields.ts';
import { readRecord } from '../../upstream-json/read-records.ts';
import { type BlockscoutSource, readableItems } from '../client/source.ts';
import { isTakenBack, notOurs, pageQuery, positionIn } from './position.ts';

/** Upstream request of a list and the readers of its pages. */
export interface List<Item, Keys> {
  readonly operation: OperationId;
  /** Below the instance's API, with a leading slash. */
  readonly path: string;
  /** Position from the document's own keys. A cursor's position takes precedence. */
  readonly start?: CursorPosition | undefined;
  /** Parameters sent with every page, in upstream's names. Every version knows them. */
  readonly fixed?: Parameters;
  /** Filters in upstream's names. Not every version knows them. */
  readonly filters?: Parameters;
  /** Tests an item against the filters. Required with `filters`, and used only if one of them is given. */
  readonly passes?: (item: Item) => boolean;
  /** Converts an item; null for one that the contract cannot represent. */
  readonly item: (value: unknown) => Item | null;
  /** Reads the document's keys from upstream's `next_page_params`. */
  readonly keys: (params: Fields, itemCount: number) => Keys;
  /** True when `items_count` is a position and not the length of a page. */
  readonly countsItems?: boolean;
}

/** Parameters of a request, of which those with a value are sent. */
type Parameters = Readonly<Record<string, string | undefined>>;

function given(parameters: Parameters = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** A list with the parameters that are sent. */
interface AskedList<Item, Keys> extends List<Item, Keys> {
  readonly fixed: Readonly<Record<string, string>>;
  readonly filters: Readonly<Record<string, string>>;
}

/** The page envelope of the contract. */
export interface PageEnvelope<Item, Keys> {
  items: Item[];
  next_page_params: (Keys & { chain_id: number; cursor: string }) | null;
}

/** Page of the contract with upstream's last envelope for it. */
export interface ReadPage<Item, Keys> {
  readonly body: PageEnvelope<Item, Keys>;
  readonly envelope: Fields;
}

/** Items per page (Decision 33). */
const PAGE_SIZE = 50;
/** Maximum number of upstream pages per page of ours, when upstream does not filter. */
const MAX_PAGES = 10;
/**
 * Cursor key that names the list; no upstream key has this name. Given a cursor of another list, upstream would ignore
 * unknown keys and restart at the first page.
 */
const LIST = '@list';

/**
 * Reads one page of a list. Versions refuse (422) or ignore filters that they do not know. Items are therefore filtered
 * again, and further pages are read while too few remain: at most 10 pages, and for at most `readOnMs` (Decision 65).
 * @throws BackendError `unsupported` on a first page when upstream does not filter, the pages read have no match and
 * the list continues.
 */
export async function readList<Item, Keys>(
  source: BlockscoutSource,
  { signal, position: handed }: Ask,
  { passes: test, ...settings }: List<Item, Keys>,
): Promise<ReadPage<Item, Keys>> {
  const filters = given(settings.filters);
  const passes = Object.keys(filters).length === 0 ? undefined : test;
  const list = { ...settings, fixed: given(settings.fixed), filters, ...(passes && { passes }) };
  const { keys } = list;
  const { clock, readOnMs } = source;
  const startedAt = clock.now();
  const position = handed === undefined ? list.start : positionOf(list, handed);
  const items: Item[] = [];
  let envelope: Fields = {};
  let next: Next | undefined = { position, params: {}, cursor: '' };
  let isFiltered = true;
  for (let pages = 0; pages < MAX_PAGES && next !== undefined && items.length < PAGE_SIZE; pages += 1) {
    // Past the deadline the items found so far would be lost.
    if (pages > 0 && clock.now() - startedAt >= readOnMs) break;
    const got: UpstreamPage<Item> = await getPage(source, list, next.position, signal);
    const kept = passes === undefined ? got.items : got.items.filter(passes);
    // Pages are never cut. One that does not fit becomes the start of the next page.
    if (pages > 0 && items.length + kept.length > PAGE_SIZE) break;
    items.push(...kept);
    envelope = got.envelope;
    next = await following(source, list, got.envelope, next);
    isFiltered &&= got.isFiltered && kept.length === got.items.length;
    if (isFiltered) break;
  }
  if (items.length === 0 && next !== undefined && position === undefined && !isFiltered) throw noneFound();
  const nextPageParams =
    next === undefined
      ? null
      : { ...keys(next.params, items.length), chain_id: source.chainId, cursor: next.cursor };
  return { body: { items, next_page_params: nextPageParams }, envelope };
}

/** Reads one page of a list as an answer that is never final. */
export async function listAnswer<Item, Keys>(
  source: BlockscoutSource,
  ask: Ask,
  list: List<Item, Keys>,
): Promise<Answer<PageEnvelope<Item, Keys>>> {
  const { body } = await readList(source, ask, list);
  return { body };
}

/** Filter of a list by the types of its records. */
export function typeFilter<Item>(
  types: readonly string[] | undefined,
  typeOf: (item: Item) => string | null | undefined,
): Pick<List<Item, never>, 'filters' | 'passes'> {
  return {
    filters: { type: types?.join(',') },
    passes: item => types?.some(one => one === typeOf(item)) !== false,
  };
}

interface Next {
  readonly position: CursorPosition | undefined;
  /** Upstream's `next_page_params`. */
  readonly params: Fields;
  /** Cursor for the client. */
  readonly cursor: string;
}

interface UpstreamPage<Item> {
  readonly envelope: Fields;
  readonly items: readonly Item[];
  /** True when upstream applied the filters, or there are none. */
  readonly isFiltered: boolean;
}

async function getPage<Item, Keys>(
  source: BlockscoutSource,
  list: AskedList<Item, Keys>,
  position: CursorPosition | undefined,
  signal: AbortSignal,
): Promise<UpstreamPage<Item>> {
  const { operation, path, fixed, filters, passes } = list;
  const isRefused = passes !== undefined && source.refusals.has(operation, filters);
  if (!isRefused) {
    try {
      return { ...(await getItems(filters)), isFiltered: true };
    } catch (error) {
      if (passes === undefined || !isOfKind(error, 'rejected')) throw error;
    }
  }
  const got = { ...(await getItems({})), isFiltered: false };
  source.refusals.add(operation, filters);
  return got;

  async function getItems(applied: Readonly<Record<string, string>>) {
    const query = pageQuery(position, { ...fixed, ...applied }, source.upstream.ownParameters);
    const { body } = await source.upstream.get(path, { query, signal, endpoint: operation });
    return readRecord(source, operation, async () => {
      const envelope = fieldsOf(body);
      if (!Array.isArray(envelope.items)) throw new UnreadableRecord('items', 'is not a list');
      const records = { list: envelope.items, name: 'items', read: list.item };
      const read = await readableItems(source, { operation, signal }, records);
      return { envelope, items: read.filter(item => item !== null) };
    });
  }
}

/**
 * Next position given by upstream; undefined at the end of the list. A position equal to the current one is an error,
 * because the walk would never end. A position that we would refuse later ends the list.
 */
async function following<Item, Keys>(
  source: BlockscoutSource,
  { operation, fixed, filters, countsItems = false }: AskedList<Item, Keys>,
  { next_page_params: params }: Fields,
  current: Next,
): Promise<Next | undefined> {
  if (!isObject(params)) return undefined;
  const { name, chainId, upstream, log } = source;
  return readRecord(source, operation, () => {
    const position = positionIn(params, { filters: { ...fixed, ...filters }, countsItems, upstream });
    if (position === undefined) return undefined;
    if (isSame(position, current.position))
      throw new UnreadableRecord('next_page_params', 'lead back to this page');
    const cursor = encodeCursor({ backend: name, chainId, position: { [LIST]: operation, ...position } });
    if (isTakenBack(position, cursor)) return { position, params, cursor };
    log.warn(
      { operation, chainId, backend: name },
      'the list ends early: its position is too long for a cursor',
    );
    return undefined;
  });
}

function isSame(one: CursorPosition, other: CursorPosition | undefined): boolean {
  const names = Object.keys(one);
  return (
    other !== undefined &&
    names.length === Object.keys(other).length &&
    names.every(name => String(one[name]) === String(other[name]))
  );
}

function positionOf<Item, Keys>(
  { operation }: List<Item, Keys>,
  { [LIST]: list, ...position }: CursorPosition,
): CursorPosition {
  if (list !== operation) throw notOurs();
  return position;
}

function noneFound(): BackendError {
  return new BackendError(
    'unsupported',
    'no_such_answer',
    'it cannot apply this filter, and none of the latest records passes it',
  );
}
