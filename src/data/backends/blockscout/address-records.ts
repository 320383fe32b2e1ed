import type { Answers } from '../port/backend.ts';
import { isOfKind } from '../port/backend-error.ts';
import { type BlockscoutSource, mustBe, read, readableItems } from './client/source.ts';
import { addressDetails, addressToken } from './normalise/holdings.ts';
import { addressCounters } from './normalise/statistics.ts';

type AddressRecordAnswers = Pick<Answers, 'getAddress' | 'getAddressCounters' | 'listAddressTokenBalances'>;

/** Maximum number of balances in the unpaged list; upstream returns all of them (Decision 239). */
const MOST_BALANCES = 250;

/** Answers about one address that are single records or unpaged lists. */
export function addressRecordAnswers(source: BlockscoutSource): AddressRecordAnswers {
  return {
    async getAddress({ path: { address_hash: address } }, { signal }) {
      const get = { operation: 'getAddress', path: `/addresses/${address}`, signal } as const;
      return { body: await read(source, get, body => mustBe(address, 'hash', addressDetails(body))) };
    },

    async getAddressCounters({ path: { address_hash: address } }, { signal }) {
      const get = {
        operation: 'getAddressCounters',
        path: `/addresses/${address}/counters`,
        signal,
      } as const;
      return { body: await read(source, get, addressCounters) };
    },

    async listAddressTokenBalances({ path: { address_hash: address } }, { signal }) {
      const path = `/addresses/${address}/token-balances`;
      const get = { operation: 'listAddressTokenBalances', path, signal } as const;
      try {
        // The list has no pages. Its length is limited by the number of keys in an answer.
        const most = Number.POSITIVE_INFINITY;
        const readBalances = (body: unknown) =>
          readableItems(source, get, { list: firstOf(body), most, read: addressToken });
        return { body: await read(source, get, readBalances) };
      } catch (error) {
        if (!isOfKind(error, 'not_found')) throw error;
        return { body: [] };
      }
    },
  };
}

function firstOf(body: unknown): unknown {
  return Array.isArray(body) ? body.slice(0, MOST_BALANCES) : body;
}
