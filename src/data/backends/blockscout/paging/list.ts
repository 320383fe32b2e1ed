import { isObject } from '#lib/json.ts';
import type { Ask, OperationId } from '../../port/backend.ts';
import { BackendError, isOfKind } from '../../port/backend-error.ts';
import { type CursorPosition, encodeCursor } from '../../port/cursor.ts';
import { at, type Fields, fieldsOf, listOf, readRecord, Unreadable } from '../../upstream-json/fields.ts';
import type { BlockscoutSource } from '../client/source.ts';
import { isTakenBack, notOurs, pageQuery, positionIn } from './position.ts';

/** A list as it is asked for upstream, and how its pages are read. */
export interface List<Item, Keys> {
  readonly operation: OperationId;
  /** Below the instance's API, with a leading slash. */
  readonly path: string;
  /** Position from the document's own keys; the one of a cursor wins. */
  readonly start?: CursorPosition | undefined;
  /** Sent with every page, in upstream's words: every version knows them. */
  readonly fixed?: Readonly<Record<string, string>>;
  /** In upstream's words. Not every version knows them. */
  readonly filters?: Readonly<Record<string, string>>;
  /** Whether an item passes the filters. Given whenever `filters` are: upstream may not know them. */
  readonly passes?: ((item: Item) => boolean) | undefined;
  /** Null for an item that the contract has no place for. */
  readonly item: (value: unknown) => Item | null;
  /** The document's keys in upstream's `next_page_params`. */
  readonly keys: (params: Fields, itemCount: number) => Keys;
  /** Whether `items_count` is a position here, and not the length of a page. */
  readonly countsItems?: boolean;
}

/** The page envelope of the contract. */
export interface ListPage<Item, Keys> {
  items: Item[];
  next_page_params: (Keys & { chain_id: number; cursor: string }) | null;
}

/** A page of the contract, and the envelope that upstream gave last for it. */
export interface ReadPage<Item, Keys> {
  readonly body: ListPage<Item, Keys>;
  readonly envelope: Fields;
}

/** Items a page (Decision 33). */
const PAGE_SIZE = 50;
/** Pages read upstream for one of ours when upstream does not filter. */
const MAX_PAGES = 10;
/**
 * Where a cursor names its list, as no key of upstream's is called: upstream takes what it knows of another list's keys
 * and begins anew with the rest.
 */
const LIST = '@list';

/**
 * Reads one page of a list. Versions differ in which filters they take, and those they do not know they refuse (422) or
 * ignore: what comes is filtered again, and read on where that leaves too little, for at most 10 pages and for as long
 * as `readOnMs` of the source allows. Decision 65.
 * @throws BackendError `unsupported` when none of these has a match, there is more, and upstream does not filter.
 */
export async function readList<Item, Keys>(
  source: BlockscoutSource,
  list: List<Item, Keys>,
  { signal, position: handed }: Ask,
): Promise<ReadPage<Item, Keys>> {
  const { passes, keys } = list;
  const { clock, readOnMs } = source;
  const startedAt = clock.now();
  const position = handed === undefined ? list.start : positionOf(list, handed);
  const items: Item[] = [];
  let envelope: Fields = {};
  let next: Next | undefined = { position, params: {}, cursor: '' };
  let isFiltered = true;
  for (let pages = 0; pages < MAX_PAGES && next !== undefined && items.length < PAGE_SIZE; pages += 1) {
    // What is there comes too late, and is lost, if the deadline passes while reading on.
    if (pages > 0 && clock.now() - startedAt >= readOnMs) break;
    const got: UpstreamPage<Item> = await getPage(source, list, next.position, signal);
    const kept = passes === undefined ? got.items : got.items.filter(passes);
    // A page is never cut: what does not fit any more is where the next one begins.
    if (pages > 0 && items.length + kept.length > PAGE_SIZE) break;
    items.push(...kept);
    envelope = got.envelope;
    next = following(source, list, got.envelope, next);
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

interface Next {
  readonly position: CursorPosition | undefined;
  /** As upstream gave it. */
  readonly params: Fields;
  /** Leads a client there. */
  readonly cursor: string;
}

interface UpstreamPage<Item> {
  readonly envelope: Fields;
  readonly items: readonly Item[];
  /** Whether upstream took the filters, if there are any. */
  readonly isFiltered: boolean;
}

async function getPage<Item, Keys>(
  source: BlockscoutSource,
  list: List<Item, Keys>,
  position: CursorPosition | undefined,
  signal: AbortSignal,
): Promise<UpstreamPage<Item>> {
  const { operation, path, fixed = {}, filters = {}, passes } = list;
  const isRefused = passes !== undefined && source.refusals.has(operation, filters);
  if (!isRefused) {
    try {
      return { ...(await getItems(filters)), isFiltered: true };
    } catch (error) {
      const mayBeFilter = passes !== undefined && Object.keys(filters).length > 0;
      if (!mayBeFilter || !isOfKind(error, 'rejected')) throw error;
    }
  }
  const got = { ...(await getItems({})), isFiltered: false };
  source.refusals.add(operation, filters);
  return got;

  async function getItems(applied: Readonly<Record<string, string>>) {
    const query = pageQuery(position, { ...fixed, ...applied }, source.upstream.ownParameters);
    const { body } = await source.upstream.get(path, { query, signal });
    return readRecord(source, operation, () => {
      const envelope = fieldsOf(body);
      return { envelope, items: at('items', envelope.items, value => itemsOf(value, list.item)) };
    });
  }
}

function itemsOf<Item>(value: unknown, read: (item: unknown) => Item | null): Item[] {
  if (!Array.isArray(value)) throw new Unreadable('', 'is not a list');
  const items: Item[] = [];
  for (const [index, entry] of listOf(value).entries()) {
    const item = at(index, entry, read);
    if (item !== null) items.push(item);
  }
  return items;
}

/**
 * Where upstream says that the list goes on; undefined at its end. A list that goes on where it is would never end, and
 * one whose position we would refuse afterwards ends here.
 */
function following<Item, Keys>(
  source: BlockscoutSource,
  { operation, fixed, filters, countsItems = false }: List<Item, Keys>,
  { next_page_params: params }: Fields,
  current: Next,
): Next | undefined {
  if (!isObject(params)) return undefined;
  const { name, chainId, upstream, log } = source;
  return readRecord(source, operation, () => {
    const position = positionIn(params, { filters: { ...fixed, ...filters }, countsItems, upstream });
    if (position === undefined) return undefined;
    if (isSame(position, current.position))
      throw new Unreadable('next_page_params', 'lead back to this page');
    const cursor = encodeCursor({ backend: name, chainId, position: { [LIST]: operation, ...position } });
    if (isTakenBack(position, cursor)) return { position, params, cursor };
    log.warn(
      { operation, chainId, backend: name },
      'a list ends early: its position is too long for a cursor',
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
