import type { Answers } from '../../src/data/backends/port/backend.ts';
import { BackendError } from '../../src/data/backends/port/backend-error.ts';
import { explorer } from '../../src/data/explorer/operations.ts';
import { manualClock } from '../support/manual-clock.ts';
import { answererOver, backend, chain, failure, hashOf, told } from './answer-support.ts';

/** Behaviour of a chain towards requests. */
export type Does =
  | 'has'
  | 'empty'
  | 'lacks'
  | 'out'
  | 'slow'
  /** Has not read the blocks yet, and asks for a retry after a second. */
  | 'behind'
  | 'filling'
  | 'cannot'
  /** Never answers. */
  | 'thinks'
  /** Has the record, and answers when it is released. */
  | 'late';

const PAGE = { items: [], next_page_params: null };
const WITHDRAWAL = {
  index: 1,
  amount: '1',
  validator_index: 1,
  block_number: 1,
  timestamp: '2026-05-04T12:00:00.000000Z',
};

/**
 * Chains 1, 2 and so on with one back end each, or several where a list is given. The first of a chain behaves as its
 * entry of `does` says at that moment. `asked` returns the chains in the order of their requests since the last call.
 */
export function world(...initially: readonly (Does | readonly [Does, ...Does[]])[]) {
  const does = initially.map(one => (typeof one === 'string' ? one : one[0]));
  const calls: number[] = [];
  const clock = manualClock();
  const releases = does.map(() => Promise.withResolvers<void>());
  const backendOf = (at: number, whatItDoes: () => Does | undefined, name: string) => {
    const act = async () => {
      calls.push(at + 1);
      const now = whatItDoes();
      if (now === 'thinks') await new Promise(() => {});
      if (now === 'late') await releases[at]?.promise;
      if (now === 'lacks') throw failure('not_found');
      if (now === 'out') throw failure('unavailable');
      if (now === 'slow') throw new BackendError('unavailable', 'timeout', 'it was too slow');
      if (now === 'behind')
        throw new BackendError('unavailable', 'not_read_yet', 'not read yet', { retryAfterMs: 1_000 });
      if (now === 'filling') throw new BackendError('unsupported', 'incomplete', 'it is not complete');
      if (now === 'cannot') throw failure('unsupported');
      return now;
    };
    const page = async () => {
      await act();
      return { body: PAGE, confirmations: 100 };
    };
    const answers: Answers = {
      listTransactionTokenTransfers: page,
      listTransactionLogs: page,
      listBlockTransactions: page,
      listTokenTransfers: page,
      listBlocks: page,
      listAddressWithdrawals: async () => {
        const items = (await act()) === 'has' ? [WITHDRAWAL] : [];
        return { body: { items, next_page_params: null } };
      },
      searchRedirect: async () => {
        const isThere = (await act()) === 'has';
        return {
          body: { redirect: isThere, type: isThere ? 'block' : null, parameter: isThere ? '1' : null },
        };
      },
    };
    return backend({ name, chainId: at + 1, answers, kind: 'blockscout' });
  };
  const chains = initially.map((one, at) => {
    const [, ...others] = typeof one === 'string' ? [one] : one;
    return chain(
      at + 1,
      backendOf(at, () => does[at], `b${at + 1}`),
      ...others.map((other, place) => backendOf(at, () => other, `b${at + 1}-${place + 2}`)),
    );
  });
  const { serve, close } = answererOver(chains, { clock });
  const handlers = explorer(serve);
  const caller = { headers: {} };
  const asked = () => calls.splice(0);

  return {
    does,
    clock,
    close,
    asked,
    /** Lets the chains with these ids answer all at once, in this order. */
    release: (...ids: number[]) => {
      for (const id of ids) releases[id - 1]?.resolve();
    },
    transfers: (digit = 'a', query: { chain_id?: number } = {}) =>
      told(
        handlers.listTransactionTokenTransfers({ path: { transaction_hash: hashOf(digit) }, query }, caller),
      ),
    logs: (hash = hashOf('a')) =>
      told(handlers.listTransactionLogs({ path: { transaction_hash: hash }, query: {} }, caller)),
    block: (numberOrHash: string, query: { chain_id?: number } = {}) =>
      told(handlers.listBlockTransactions({ path: { block_number_or_hash: numberOrHash }, query }, caller)),
    feed: (query: { chain_id?: number } = {}) =>
      told(handlers.listTokenTransfers({ path: {}, query }, caller)),
    blocks: () => told(handlers.listBlocks({ path: {}, query: { type: 'block' } }, caller)),
    withdrawals: (query: { chain_id?: number } = {}) =>
      told(handlers.listAddressWithdrawals({ path: { address_hash: `0x${'1'.repeat(40)}` }, query }, caller)),
    redirect: () => told(handlers.searchRedirect({ path: {}, query: { q: '1' } }, caller)),
  };
}
