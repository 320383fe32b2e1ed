import type { Answers } from '../port/backend.ts';
import { type BlockscoutSource, read, unlessUnknown } from './client/source.ts';
import { smartContractItem } from './normalise/smart-contract.ts';
import { smartContractCounters } from './normalise/statistics.ts';
import { smartContractKeys } from './paging/cursor-params.ts';
import { readList } from './paging/list.ts';
import { positionFrom } from './paging/position.ts';

type VerifiedContractAnswers = Pick<Answers, 'listSmartContracts' | 'getSmartContractCounters'>;

/** Verified contracts and counters of contracts. */
export function verifiedContractAnswers(source: BlockscoutSource): VerifiedContractAnswers {
  return {
    async listSmartContracts({ query }, ask) {
      const { filter } = query;
      const q = query.q?.trim() ?? '';
      // `hash` without `block_number` is a position of version 8; with it, a position of our own index.
      const sets = [['smart_contract_id'], ...(query.block_number === undefined ? [['hash']] : [])];
      const { body } = await readList(
        source,
        {
          operation: 'listSmartContracts',
          path: '/smart-contracts',
          start: positionFrom(query, sets, ['block_number', 'hash']),
          fixed: { ...(q === '' ? {} : { q }), ...(filter === undefined ? {} : { filter }) },
          item: smartContractItem,
          keys: smartContractKeys,
        },
        ask,
      );
      return { body };
    },

    async getSmartContractCounters(_request, { signal }) {
      const path = '/smart-contracts/counters';
      const get = { operation: 'getSmartContractCounters', path, signal } as const;
      return { body: await unlessUnknown(read(source, get, smartContractCounters), 'such counters') };
    },
  };
}
