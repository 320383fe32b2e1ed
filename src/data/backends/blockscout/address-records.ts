import type { Answers } from '../port/backend.ts';
import { type BlockscoutSource, mustBe, orEmpty, read, readableItems } from './client/source.ts';
import { addressDetails, addressToken, coinBalanceChange, coinBalancesByDay } from './normalise/holdings.ts';
import { addressCounters } from './normalise/statistics.ts';
import { BLOCK_SETS, blockKeys } from './paging/cursor-params.ts';
import { listAnswer } from './paging/list.ts';
import { positionFrom } from './paging/position.ts';

/** Maximum number of balances in the unpaged list; upstream returns all of them (Decision 239). */
const MAX_BALANCES = 250;

/** Records of one address, its balances, and the history of its coin balance. */
export function addressRecordAnswers(source: BlockscoutSource) {
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
      // The list has no pages. Its length is limited by the number of keys in an answer.
      const most = Number.POSITIVE_INFINITY;
      const readBalances = (body: unknown) =>
        readableItems(source, get, { list: firstOf(body), most, read: addressToken });
      return { body: await orEmpty(read(source, get, readBalances), []) };
    },

    listAddressCoinBalances({ path: { address_hash: address }, query }, ask) {
      const reading = listAnswer(source, ask, {
        operation: 'listAddressCoinBalances',
        path: `/addresses/${address}/coin-balance-history`,
        start: positionFrom(query, BLOCK_SETS),
        item: coinBalanceChange,
        keys: blockKeys,
      });
      return orEmpty(reading, { body: { items: [], next_page_params: null } });
    },

    async getAddressCoinBalancesByDay({ path: { address_hash: address } }, { signal }) {
      const path = `/addresses/${address}/coin-balance-history-by-day`;
      const get = { operation: 'getAddressCoinBalancesByDay', path, signal } as const;
      return { body: await orEmpty(read(source, get, coinBalancesByDay), { days: null, items: [] }) };
    },
  } satisfies Answers;
}

function firstOf(body: unknown): unknown {
  return Array.isArray(body) ? body.slice(0, MAX_BALANCES) : body;
}
