import { LRUCache } from 'lru-cache';
import type { ExplorerOperations } from '../../contract/contracts/explorer.ts';
import type { Handlers } from '../../contract/contracts/operations.ts';
import { HttpError } from '../../http/errors.ts';
import type { PageRecord, RecordOperation } from './page-kinds.ts';

/** Tells that a record does not exist; false when it does, and when that is not known in time. */
export type RecordLook = (record: PageRecord) => Promise<boolean>;

type RecordHandlers = Pick<Handlers<ExplorerOperations>, RecordOperation>;

/** Longest delay of a page, in milliseconds. */
const LONGEST_MS = 250;
const AT_ONCE = 4;
const PER_SECOND = 10;
const REMEMBERED_MS = 10_000;
const REMEMBERED = 1_000;

/**
 * Looks for the record of a page before the page is sent (Decision 433). Bounded for the process, because pages have a
 * higher limit than the API: beyond the bounds a record counts as existing, and the page itself finds that it does not.
 */
export function recordLook(operations: RecordHandlers, now: () => number): RecordLook {
  const asks = asksOf(operations);
  const missing = new LRUCache<string, true>({ max: REMEMBERED, ttl: REMEMBERED_MS });
  let atOnce = 0;
  let second = 0;
  let inSecond = 0;

  function mayLook(): boolean {
    const current = Math.floor(now() / 1000);
    if (current !== second) inSecond = 0;
    second = current;
    return atOnce < AT_ONCE && ++inSecond <= PER_SECOND;
  }

  async function isMissing(record: PageRecord): Promise<boolean> {
    atOnce += 1;
    try {
      await asks[record.operation](record);
      return false;
    } catch (error) {
      return error instanceof HttpError && error.status === 404;
    } finally {
      atOnce -= 1;
    }
  }

  return async record => {
    const key = Object.values(record).join(' ');
    if (missing.has(key)) return true;
    if (!mayLook()) return false;
    const look = isMissing(record).then(is => {
      if (is) missing.set(key, true);
      return is;
    });
    const { promise: late, resolve } = Promise.withResolvers<false>();
    const timer = setTimeout(resolve, LONGEST_MS, false);
    return Promise.race([look, late]).finally(() => clearTimeout(timer));
  };
}

/** Requests for a record without headers, so that a browser's forced reload of a page does not reload the record. */
function asksOf(
  operations: RecordHandlers,
): Readonly<Record<RecordOperation, (record: PageRecord) => Promise<unknown>>> {
  const caller = { headers: {} };
  const on = ({ chainId }: PageRecord) => ({ chain_id: chainId });
  const addressOf = ({ id }: PageRecord) => ({ address_hash: id.toLowerCase() });
  return {
    getTransaction: record =>
      operations.getTransaction(
        { path: { transaction_hash: record.id.toLowerCase() }, query: on(record) },
        caller,
      ),
    getBlock: record =>
      operations.getBlock(
        { path: { block_number_or_hash: record.id.toLowerCase() }, query: on(record) },
        caller,
      ),
    getAddress: record => operations.getAddress({ path: addressOf(record), query: on(record) }, caller),
    getToken: record => operations.getToken({ path: addressOf(record), query: on(record) }, caller),
    getTokenInstance: record =>
      operations.getTokenInstance(
        {
          path: { address_hash: (record.contract ?? '').toLowerCase(), id: BigInt(record.id) },
          query: on(record),
        },
        caller,
      ),
  };
}
