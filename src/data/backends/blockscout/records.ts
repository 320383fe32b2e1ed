import type { Answers } from '../port/backend.ts';
import { type BlockscoutSource, mustBe, read, unlessUnknown } from './client/source.ts';
import { smartContract, smartContractItem } from './normalise/smart-contract.ts';
import {
  indexingStatus,
  marketChart,
  smartContractCounters,
  stats,
  transactionStats,
  transactionsChart,
} from './normalise/statistics.ts';
import { tokenInstance } from './normalise/token.ts';
import { smartContractKeys } from './paging/cursor-params.ts';
import { listAnswer } from './paging/list.ts';
import { positionFrom } from './paging/position.ts';

/** Records that any block may change: statistics, contracts and token instances. */
export function recordAnswers(source: BlockscoutSource) {
  return {
    async getStats(_request, { signal }) {
      return { body: await read(source, { operation: 'getStats', path: '/stats', signal }, stats) };
    },

    async getTransactionStats(_request, { signal }) {
      const get = { operation: 'getTransactionStats', path: '/transactions/stats', signal } as const;
      return { body: await unlessUnknown(read(source, get, transactionStats), 'such statistics') };
    },

    async getIndexingStatus(_request, { signal }) {
      const get = { operation: 'getIndexingStatus', path: '/main-page/indexing-status', signal } as const;
      const body = await read(source, get, indexingStatus);
      return body.finished_indexing ? { body } : { body, unsettled: true };
    },

    async getTransactionsChart(_request, { signal }) {
      const get = { operation: 'getTransactionsChart', path: '/stats/charts/transactions', signal } as const;
      return { body: await read(source, get, transactionsChart) };
    },

    async getMarketChart(_request, { signal }) {
      const get = { operation: 'getMarketChart', path: '/stats/charts/market', signal } as const;
      return { body: await read(source, get, marketChart) };
    },

    async getSmartContract({ path: { address_hash: address } }, { signal }) {
      const get = { operation: 'getSmartContract', path: `/smart-contracts/${address}`, signal } as const;
      return { body: await read(source, get, smartContract) };
    },

    async getTokenInstance({ path: { address_hash: address, id } }, { signal }) {
      const path = `/tokens/${address}/instances/${id}`;
      const get = { operation: 'getTokenInstance', path, signal } as const;
      return { body: await read(source, get, body => mustBe(String(id), 'id', tokenInstance(body))) };
    },

    async listSmartContracts({ query }, ask) {
      // `hash` without `block_number` is a position of version 8; with it, a position of our own index.
      const sets = [['smart_contract_id'], ...(query.block_number === undefined ? [['hash']] : [])];
      return listAnswer(source, ask, {
        operation: 'listSmartContracts',
        path: '/smart-contracts',
        start: positionFrom(query, sets, ['block_number', 'hash']),
        fixed: { q: query.q?.trim() || undefined, filter: query.filter },
        item: smartContractItem,
        keys: smartContractKeys,
      });
    },

    async getSmartContractCounters(_request, { signal }) {
      const path = '/smart-contracts/counters';
      const get = { operation: 'getSmartContractCounters', path, signal } as const;
      return { body: await unlessUnknown(read(source, get, smartContractCounters), 'such counters') };
    },
  } satisfies Answers;
}
