import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { isObject } from '#lib/json.ts';
import type { Answers, RequestOf } from '../port/backend.ts';
import { listOf } from '../upstream-json/fields.ts';
import { type BlockscoutSource, mustBe, mustName, read } from './client/source.ts';
import { tokenHolder } from './normalise/holdings.ts';
import { tokenCounters } from './normalise/statistics.ts';
import { token, tokenInstance } from './normalise/token.ts';
import { tokenTransferRecord } from './normalise/token-transfer.ts';
import {
  TOKEN_TRANSFER_SETS,
  tokenHolderKeys,
  tokenInstanceKeys,
  tokenKeys,
  tokenTransferKeys,
} from './paging/cursor-params.ts';
import { type List, listAnswer, readList, typeFilter } from './paging/list.ts';
import { positionFrom } from './paging/position.ts';

type Token = ExplorerSchemas['Token'];

/** Answers about tokens, their transfers and their holders. */
export function tokenAnswers(source: BlockscoutSource) {
  return {
    async listTokens({ query }, ask) {
      const asked = ask.position === undefined ? LATEST : namesIn([ask.position]);
      const list = tokenList(query, asked);
      const { body, envelope } = await readList(source, ask, list);
      if (ask.position !== undefined) return { body };
      const names = namesIn(listOf(envelope.items));
      const isUnderstood =
        names === asked || (list.start === undefined && sortOf(query, names) === query.sort);
      // An older version ignored the order, or restarted at its first page.
      return { body: isUnderstood ? body : (await readList(source, ask, tokenList(query, names))).body };
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
      return listAnswer(source, ask, {
        operation: 'listTransfersOfToken',
        path: `/tokens/${address}/transfers`,
        start: positionFrom(query, TOKEN_TRANSFER_SETS),
        item: value => ofToken(address, tokenTransferRecord(value)),
        keys: tokenTransferKeys,
      });
    },

    async listTokenHolders({ path: { address_hash: address }, query }, ask) {
      return listAnswer(source, ask, {
        operation: 'listTokenHolders',
        path: `/tokens/${address}/holders`,
        start: positionFrom(query, [['value', 'address_hash']], ['token_id']),
        item: tokenHolder,
        keys: tokenHolderKeys,
      });
    },

    async listTokenInstances({ path: { address_hash: address }, query }, ask) {
      return listAnswer(source, ask, {
        operation: 'listTokenInstances',
        path: `/tokens/${address}/instances`,
        start: positionFrom(query, [['unique_token']]),
        fixed: { holder_address_hash: query.holder_address_hash },
        item: value => ofToken(address, tokenInstance(value)),
        keys: tokenInstanceKeys,
      });
    },

    async listTransfersOfTokenInstance({ path: { address_hash: address, id }, query }, ask) {
      return listAnswer(source, ask, {
        operation: 'listTransfersOfTokenInstance',
        path: `/tokens/${address}/instances/${id}/transfers`,
        start: positionFrom(query, TOKEN_TRANSFER_SETS),
        item: value => ofToken(address, tokenTransferRecord(value)),
        keys: tokenTransferKeys,
      });
    },

    async listTokenInstanceHolders({ path: { address_hash: address, id }, query }, ask) {
      return listAnswer(source, ask, {
        operation: 'listTokenInstanceHolders',
        path: `/tokens/${address}/instances/${id}/holders`,
        start: positionFrom(query, [['value', 'address_hash', 'token_id']]),
        item: tokenHolder,
        keys: tokenHolderKeys,
      });
    },
  } satisfies Answers;
}

/** Returns a record of the token. A record without a token belongs to the list it is in. */
function ofToken<Item extends { readonly token?: { readonly address: string } | null }>(
  address: string,
  record: Item,
): Item {
  return mustName(address, [record.token?.address ?? address], 'token.address', record);
}

type TokenQuery = RequestOf<'listTokens'>['query'];

/** Query parameters for the number of holders. Version 8 requires both; later versions refuse the older one. */
type HolderNames = readonly ('holders_count' | 'holder_count')[];
const LATEST: HolderNames = ['holders_count'];
const OF_VERSION_8: HolderNames = ['holders_count', 'holder_count'];
const UNTIL_7: HolderNames = ['holder_count'];

/** Keys of a position. Every version restarts at its first page when one of them is missing. */
const POSITION = [
  'contract_address_hash',
  'holders_count',
  'fiat_value',
  'is_name_null',
  'market_cap',
  'name',
] as const;

function tokenList(query: TokenQuery, names: HolderNames): List<Token, ReturnType<typeof tokenKeys>> {
  const { q, type, order = 'desc' } = query;
  const sort = sortOf(query, names);
  const { holders_count: count = null, ...others } = positionFrom(query, [POSITION]) ?? {};
  const hasStart = Object.keys(others).length > 0;
  return {
    operation: 'listTokens',
    path: '/tokens',
    start: hasStart ? { ...others, ...Object.fromEntries(names.map(name => [name, count])) } : undefined,
    fixed: { q: q || undefined, sort, order: sort && order },
    ...typeFilter<Token>(type, record => record.type),
    item: token,
    keys: tokenKeys,
  };
}

function sortOf({ sort }: TokenQuery, names: HolderNames): string | undefined {
  return sort === 'holders_count' && names === UNTIL_7 ? 'holder_count' : sort;
}

/**
 * Parameter names used by the version that wrote these items or this position. Items once called the number `holders`.
 */
function namesIn(values: readonly unknown[]): HolderNames {
  const has = (...names: string[]) =>
    values.some(value => isObject(value) && names.some(name => name in value));
  if (!has('holders', 'holder_count')) return LATEST;
  return has('holders_count') ? OF_VERSION_8 : UNTIL_7;
}
