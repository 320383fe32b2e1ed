import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { isObject } from '#lib/json.ts';
import type { Answers, RequestOf } from '../port/backend.ts';
import { type Fields, listOf } from '../upstream-json/fields.ts';
import { type BlockscoutSource, mustBe, mustName, read } from './client/source.ts';
import { tokenHolder } from './normalise/holdings.ts';
import { tokenCounters } from './normalise/statistics.ts';
import { token, tokenInstance } from './normalise/token.ts';
import { tokenTransfer } from './normalise/token-transfer.ts';
import {
  TOKEN_TRANSFER_SETS,
  tokenHolderKeys,
  tokenInstanceKeys,
  tokenKeys,
  tokenTransferKeys,
} from './paging/cursor-params.ts';
import { type List, readList } from './paging/list.ts';
import { positionFrom } from './paging/position.ts';

type Token = ExplorerSchemas['Token'];
type TokenAnswers = Pick<
  Answers,
  | 'listTokens'
  | 'getToken'
  | 'getTokenCounters'
  | 'listTransfersOfToken'
  | 'listTokenHolders'
  | 'listTokenInstances'
  | 'listTransfersOfTokenInstance'
  | 'listTokenInstanceHolders'
>;

/** Tokens, and of one its transfers and its holders. */
export function tokenAnswers(source: BlockscoutSource): TokenAnswers {
  return {
    async listTokens({ query }, ask) {
      const isOlder = ask.position?.holder_count !== undefined;
      const { body, envelope } = await readList(source, tokenList(query, isOlder), ask);
      if (query.sort !== 'holders_count' || isOlder || !isOfOlder(envelope)) return { body };
      // It did not know the order, and ignored it.
      return { body: (await readList(source, tokenList(query, true), ask)).body };
    },

    async getToken({ path: { address_hash: address } }, { signal }) {
      const get = { operation: 'getToken', path: `/tokens/${address}`, signal } as const;
      return { body: await read(source, get, body => mustBe(address, 'address', token(body))) };
    },

    async getTokenCounters({ path: { address_hash: address } }, { signal }) {
      const get = { operation: 'getTokenCounters', path: `/tokens/${address}/counters`, signal } as const;
      return { body: await read(source, get, tokenCounters) };
    },

    async listTransfersOfToken({ path: { address_hash: address }, query }, ask) {
      const { body } = await readList(
        source,
        {
          operation: 'listTransfersOfToken',
          path: `/tokens/${address}/transfers`,
          start: positionFrom(query, TOKEN_TRANSFER_SETS),
          item(value) {
            const found = tokenTransfer(value);
            return mustName(address, [found.token?.address ?? address], 'token.address', found);
          },
          keys: tokenTransferKeys,
        },
        ask,
      );
      return { body };
    },

    async listTokenHolders({ path: { address_hash: address }, query }, ask) {
      const { body } = await readList(
        source,
        {
          operation: 'listTokenHolders',
          path: `/tokens/${address}/holders`,
          start: positionFrom(query, [['value', 'address_hash']], ['token_id']),
          item: tokenHolder,
          keys: tokenHolderKeys,
        },
        ask,
      );
      return { body };
    },

    async listTokenInstances({ path: { address_hash: address }, query }, ask) {
      const { holder_address_hash: holder } = query;
      const { body } = await readList(
        source,
        {
          operation: 'listTokenInstances',
          path: `/tokens/${address}/instances`,
          start: positionFrom(query, [['unique_token']]),
          fixed: holder === undefined ? {} : { holder_address_hash: holder },
          item(value) {
            const found = tokenInstance(value);
            return mustName(address, [found.token?.address ?? address], 'token.address', found);
          },
          keys: tokenInstanceKeys,
        },
        ask,
      );
      return { body };
    },

    async listTransfersOfTokenInstance({ path: { address_hash: address, id }, query }, ask) {
      const { body } = await readList(
        source,
        {
          operation: 'listTransfersOfTokenInstance',
          path: `/tokens/${address}/instances/${id}/transfers`,
          start: positionFrom(query, TOKEN_TRANSFER_SETS),
          item(value) {
            const found = tokenTransfer(value);
            return mustName(address, [found.token?.address ?? address], 'token.address', found);
          },
          keys: tokenTransferKeys,
        },
        ask,
      );
      return { body };
    },

    async listTokenInstanceHolders({ path: { address_hash: address, id }, query }, ask) {
      const { body } = await readList(
        source,
        {
          operation: 'listTokenInstanceHolders',
          path: `/tokens/${address}/instances/${id}/holders`,
          start: positionFrom(query, [['value', 'address_hash', 'token_id']]),
          item: tokenHolder,
          keys: tokenHolderKeys,
        },
        ask,
      );
      return { body };
    },
  };
}

type TokenQuery = RequestOf<'listTokens'>['query'];

/** The list of tokens. Up to version 7 the order by holders has another name. */
function tokenList(query: TokenQuery, isOlder: boolean): List<Token, ReturnType<typeof tokenKeys>> {
  const { q = '', type, sort, order = 'desc' } = query;
  const sorted = sort === 'holders_count' && isOlder ? 'holder_count' : sort;
  return {
    operation: 'listTokens',
    path: '/tokens',
    start: positionFrom(
      query,
      [['contract_address_hash', 'holders_count']],
      ['fiat_value', 'is_name_null', 'market_cap', 'name'],
    ),
    fixed: { ...(q === '' ? {} : { q }), ...(sorted === undefined ? {} : { sort: sorted, order }) },
    ...(type === undefined
      ? {}
      : { filters: { type: type.join(',') }, passes: record => type.some(one => one === record.type) }),
    item: token,
    keys: tokenKeys,
  };
}

/** True for a page of a version that has one name less for the number of holders. */
function isOfOlder({ items }: Fields): boolean {
  return listOf(items).some(item => isObject(item) && 'holders' in item && !('holders_count' in item));
}
