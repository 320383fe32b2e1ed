import type { Fields } from '../../src/data/backends/upstream-json/fields.ts';
import {
  addressOf,
  block,
  blockHash,
  hashOf,
  internalTransaction,
  log,
  type Place,
  smartContract,
  TRANSACTIONS_A_BLOCK,
  tokenInstance,
  transaction,
  withdrawal,
} from './instance-records.ts';

/** Answer of an instance without a fault. */
export interface TrueAnswer {
  readonly status: 200 | 404;
  readonly json: unknown;
}

/** One chain without new blocks. Some of its ids are unique, others exist on every chain. */
export interface World {
  readonly chainId: number;
  readonly head: number;
  readonly transactions: readonly string[];
  readonly addresses: readonly string[];
  answer(path: string, query: URLSearchParams): TrueAnswer;
}

/** Number of transactions that exist on every chain, like those without a chain id in their signature. */
export const SHARED = 30;
/** Number of instances of every token. Ids start at 0. */
export const INSTANCES = 20;
const ADDRESSES = 40;
const WITHDRAWALS = 120;
const LOGS = 3;
const PAGE = 50;
const NOT_FOUND: TrueAnswer = { status: 404, json: { message: 'Not found' } };

/** Creates a chain up to block `head`, and the answers of its instance. Its page positions repeat `apiKey`. */
export function world({ chainId, head, apiKey }: { chainId: number; head: number; apiKey: string }): World {
  const count = (head + 1) * TRANSACTIONS_A_BLOCK;
  const transactions = Array.from({ length: count }, (_, n) =>
    hashOf(n < SHARED ? `transaction ${n}` : `transaction ${n} of ${chainId}`),
  );
  const numbers = new Map(transactions.map((hash, number) => [hash, number]));
  const heights = new Map(
    Array.from({ length: head + 1 }, (_, height) => [blockHash(chainId, height), height]),
  );
  const addresses = Array.from({ length: ADDRESSES }, (_, n) => addressOf(`address ${n} of ${chainId}`));
  const known = new Set(addresses);
  const isOld = chainId % 2 === 0;

  return { chainId, head, transactions, addresses, answer };

  function answer(path: string, query: URLSearchParams): TrueAnswer {
    const [, kind, id = '', what, item = ''] = path.split('/');
    if (kind === 'transactions') return id === '' ? feedOfTransactions(query) : ofTransaction(id, what);
    if (kind === 'blocks') return id === '' ? feedOfBlocks(query) : ofBlock(id, what);
    if (path === '/main-page/blocks') return ok(down(head, 4).map(height => block(chainId, height)));
    if (kind === 'addresses' && what === 'withdrawals') return withdrawalsOf(id, query);
    if (kind === 'smart-contracts') return known.has(id) ? ok(smartContract(chainId, id)) : NOT_FOUND;
    if (kind === 'tokens' && known.has(id) && Number(item) < INSTANCES)
      return ok(tokenInstance(chainId, id, item));
    return NOT_FOUND;
  }

  function ofTransaction(hash: string, what: string | undefined): TrueAnswer {
    const number = numbers.get(hash);
    if (number === undefined) return NOT_FOUND;
    const place = placeOf(number);
    if (what === undefined) return ok(transaction(place));
    const write = what === 'logs' ? log : internalTransaction;
    return page(Array.from({ length: LOGS }, (_, index) => write(place, index)));
  }

  function ofBlock(id: string, what: string | undefined): TrueAnswer {
    const height = id.startsWith('0x') ? heights.get(id) : Number(id);
    if (height === undefined || height > head) return NOT_FOUND;
    if (what === undefined) return ok(block(chainId, height));
    const last = (height + 1) * TRANSACTIONS_A_BLOCK - 1;
    return page(down(last, TRANSACTIONS_A_BLOCK).map(number => transaction(placeOf(number))));
  }

  function feedOfTransactions(query: URLSearchParams): TrueAnswer {
    const [below, index] = [query.get('block_number'), Number(query.get('index'))];
    const from = below === null ? count - 1 : Number(below) * TRANSACTIONS_A_BLOCK + index - 1;
    const shown = down(from, PAGE);
    const last = shown.at(-1) ?? 0;
    const next = {
      block_number: Math.floor(last / TRANSACTIONS_A_BLOCK),
      index: last % TRANSACTIONS_A_BLOCK,
      apikey: apiKey, // older versions of Blockscout repeat it
    };
    return page(
      shown.map(number => transaction(placeOf(number))),
      last > 0 ? next : null,
    );
  }

  function feedOfBlocks(query: URLSearchParams): TrueAnswer {
    const below = query.get('block_number');
    const shown = down(below === null ? head : Number(below) - 1, PAGE);
    const last = shown.at(-1) ?? 0;
    const blocks = shown.map(height => block(chainId, height));
    return page(blocks, last > 0 ? { block_number: last } : null);
  }

  function withdrawalsOf(address: string, query: URLSearchParams): TrueAnswer {
    if (!known.has(address)) return isOld ? NOT_FOUND : page([]);
    const shown = down(Number(query.get('index') ?? WITHDRAWALS + 1) - 1, PAGE).filter(index => index > 0);
    const last = shown.at(-1) ?? 1;
    const items = shown.map(index => withdrawal(chainId, address, index));
    return page(items, last > 1 ? { index: last } : null);
  }

  function placeOf(number: number): Place {
    return { chainId, head, number, hash: transactions[number] ?? '' };
  }
}

function ok(json: unknown): TrueAnswer {
  return { status: 200, json };
}

function page(items: readonly Fields[], next: Fields | null = null): TrueAnswer {
  return ok({ items, next_page_params: next === null ? null : { ...next, items_count: items.length } });
}

/** Up to `length` descending numbers from `from`, none below zero. */
function down(from: number, length: number): number[] {
  return Array.from({ length: Math.max(0, Math.min(length, from + 1)) }, (_, step) => from - step);
}
