import type { Answers } from '../port/backend.ts';
import { BackendError } from '../port/backend-error.ts';
import type { CursorPosition } from '../port/cursor.ts';
import { fieldsOf } from '../upstream-json/fields.ts';
import { type BlockscoutSource, read, readableItems } from './client/source.ts';
import { kindOf, searchRedirect, searchResultOrNull } from './normalise/search-result.ts';
import { searchKeys } from './paging/cursor-params.ts';
import { listAnswer } from './paging/list.ts';
import { positionFrom } from './paging/position.ts';

/** Document's keys of a search position, which are those of versions up to 6.9. */
const KEYS = [
  'address_hash',
  'block_hash',
  'holder_count',
  'inserted_at',
  'item_type',
  'name',
  'transaction_hash',
] as const;

/** Maximum number of results of a quick search (Decision 203). */
const MAX_AT_ONCE = 50;
/** Minimum length of a quick search in bytes. Since 6.9 a shorter one finds nothing. */
const SHORTEST_QUICK = 3;

/** Search by name, symbol, number, address or hash. Upstream refuses an empty search; here it finds nothing. */
export function searchAnswers(source: BlockscoutSource) {
  const resultOrNull = (value: unknown) => {
    const result = searchResultOrNull(value);
    if (result === null) source.onDropped(kindOf(value));
    return result;
  };
  return {
    async search({ query }, ask) {
      const { q = '' } = query;
      if (q === '') return { body: { items: [], next_page_params: null } };
      const start = positionFrom(query, [['item_type']], KEYS);
      // Since 6.10 only the cursor holds the position. Without it every request would return the first page.
      if (query.items_count !== undefined && start === undefined && ask.position === undefined) {
        throw new BackendError('rejected', 'bad_input', 'cursor: must be given together with items_count');
      }
      return listAnswer(source, ask, {
        operation: 'search',
        path: '/search',
        start: start === undefined ? undefined : inUpstreamsWords(start),
        fixed: { q },
        item: resultOrNull,
        keys: (params, itemCount) => searchKeys(params, itemCount, q),
      });
    },

    async quickSearch({ query: { q = '' } }, { signal }) {
      if (q === '') return { body: [] };
      const isShort = Buffer.byteLength(q) < SHORTEST_QUICK;
      const path = isShort ? '/search' : '/search/quick';
      const get = { operation: 'quickSearch', path, query: new URLSearchParams({ q }), signal } as const;
      const results = await read(source, get, body =>
        readableItems(source, get, {
          ...(isShort ? { list: fieldsOf(body).items, name: 'items' } : { list: body }),
          read: resultOrNull,
        }),
      );
      return { body: results.filter(result => result !== null).slice(0, MAX_AT_ONCE) };
    },

    async searchRedirect({ query: { q = '' } }, { signal }) {
      if (q === '') return { body: { redirect: false, type: null, parameter: null } };
      const query = new URLSearchParams({ q });
      const get = { operation: 'searchRedirect', path: '/search/check-redirect', query, signal } as const;
      return { body: await read(source, get, searchRedirect) };
    },
  } satisfies Answers;
}

/**
 * Completes a position with all keys and the former name of the transaction hash. Versions up to 6.9 restart at the
 * first page when one is missing.
 */
function inUpstreamsWords(start: CursorPosition): CursorPosition {
  const whole = { ...Object.fromEntries(KEYS.map(key => [key, null])), ...start };
  return { ...whole, tx_hash: start.transaction_hash ?? null };
}
