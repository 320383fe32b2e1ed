import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { errorBodies } from '../../src/contract/contracts/contract.ts';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { type InsightsOperations, insightsContract } from '../../src/contract/contracts/insights.ts';
import type { Handlers } from '../../src/contract/contracts/operations.ts';
import { mount } from '../../src/contract/mount/mount.ts';
import { type Served, serve } from '../http/serve.ts';

const ADDRESS = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const HASH = `0x${'aB'.repeat(32)}`;
const meta = { chain_ids: [1], page: 0, limit_per_chain: 0, total_items: 0, total_pages: 0 };
const V1 = '/insights/v1';
const EVENTS = `${V1}/events/${ADDRESS}`;
const PAIR = 'Transfer(address,address,uint256)';

let served: Served;
let seen: { path: object; query: object }[] = [];

/** Records a request and returns the emptiest body that the contract allows. */
function remembered<Body>(body: Body) {
  return async (request: { path: object; query: object }) => {
    seen.push(request);
    return { status: 200 as const, body };
  };
}

beforeAll(async () => {
  const handlers: Handlers<InsightsOperations> = {
    lookUpTokens: remembered({ data: [] }),
    listTokenBalances: remembered({ data: [] }),
    listOwnedNfts: remembered({ data: [] }),
    listContractNfts: remembered({ data: [] }),
    getNft: remembered({ data: [] }),
    getTokenPrices: remembered({ data: [] }),
    listTokenNftTransfers: remembered({ data: [] }),
    listNftTransfers: remembered({ data: [] }),
    queryBlocks: remembered({ data: [], meta }),
    queryTransactions: remembered({ data: [], meta }),
    queryContractTransactions: remembered({ data: [], meta }),
    queryWalletTransactions: remembered({ meta, aggregations: [{ count: 0, 'sum(value)': '0', day: null }] }),
    queryAllEvents: remembered({ data: [], meta }),
    queryContractEvents: remembered({ data: [], meta }),
    queryEvents: remembered({ data: [], meta }),
    resolveInput: remembered({ data: { type: 'unknown' as const }, meta }),
    getContractAbi: remembered([{ type: 'fallback', stateMutability: 'payable' }]),
  };
  const route = await mount({ contract: insightsContract, handlers, validateResponses: true });
  served = await serve([route], { formatError: errorBodies([explorerContract, insightsContract]) });
});
afterAll(() => served[Symbol.asyncDispose]());
beforeEach(() => {
  seen = [];
});

const page = { limit: 20, page: 0 };
const query = { ...page, sort_order: 'desc' };
const decoded = { ...query, decode: false };

describe('a handler receives', () => {
  test.each<[string, string, { path?: object; query: object }]>([
    ['the defaults', `${V1}/blocks`, { query }],
    ['the defaults of transactions', `${V1}/transactions`, { query: decoded }],
    [
      'exact amounts',
      `${V1}/transactions?filter_value_gte=100000000000000000000&filter_gas_price_lt=${2n ** 256n - 1n}`,
      {
        query: {
          ...decoded,
          filter_value_gte: 100_000_000_000_000_000_000n,
          filter_gas_price_lt: 2n ** 256n - 1n,
        },
      },
    ],
    [
      'every other number filter as a bigint, too',
      `${EVENTS}/${PAIR}?filter_log_index=3&filter_transaction_index_gt=4&filter_block_timestamp_lte=5`,
      {
        path: { contract_address: ADDRESS, signature: PAIR },
        query: {
          ...decoded,
          filter_log_index: 3n,
          filter_transaction_index_gt: 4n,
          filter_block_timestamp_lte: 5n,
        },
      },
    ],
    [
      'no value for an empty or null parameter',
      `${V1}/transactions?page=&aggregate=&group_by=null&group_by=&decode=null&filter_gas=&filter_block_number_gt=null`,
      { query: decoded },
    ],
    [
      'values next to an empty one',
      `${V1}/blocks?group_by=&group_by=miner&aggregate=count()%20as%20n&aggregate=null&page=3`,
      { query: { ...query, page: 3, group_by: ['miner'], aggregate: ['count() as n'] } },
    ],
    [
      'lists of repeatable parameters, given once or several times',
      `${V1}/tokens/price?chain_id=1&chain=10&chain=1&address=${ADDRESS}&address=usd.example.eth&symbol=a`,
      {
        query: {
          chain_id: [1],
          chain: [10, 1],
          address: [ADDRESS, 'usd.example.eth'],
          symbol: ['a'],
          include_historical_prices: 'false',
          include_holders: 'false',
        },
      },
    ],
    [
      'lists with commas, except for symbols, which may contain one',
      `${V1}/tokens/price?chain_id=1,10&chain_id=8453&address=usd.example.eth,${ADDRESS}&symbol=a,b`,
      {
        query: {
          chain_id: [1, 10, 8453],
          address: ['usd.example.eth', ADDRESS],
          symbol: ['a,b'],
          include_historical_prices: 'false',
          include_holders: 'false',
        },
      },
    ],
    [
      'a symbol spelled null where it is required',
      `${V1}/tokens/lookup?symbol=null`,
      { query: { symbol: ['null'] } },
    ],
    [
      'no symbol where it is optional',
      `${V1}/tokens/price?symbol=null&timestamp=1715538095123`,
      { query: { timestamp: 1715538095123, include_historical_prices: 'false', include_holders: 'false' } },
    ],
    [
      'the flags of NFT transfers as text',
      `${V1}/nfts/transfers/${ADDRESS}/7?metadata=true&resolve_metadata_links=false&limit=0&page=20`,
      {
        path: { contract_address: ADDRESS, token_id: '7' },
        query: {
          limit: 0,
          page: 20,
          metadata: 'true',
          sales: 'false',
          include_owners: 'false',
          resolve_metadata_links: 'false',
        },
      },
    ],
    [
      'names for addresses, also beyond ASCII',
      `${V1}/wallets/${encodeURIComponent('ñandú.eth')}/transactions?limit=1000`,
      { path: { wallet_address: 'ñandú.eth' }, query: { ...decoded, limit: 1000 } },
    ],
    [
      'nothing of undeclared parameters',
      `${V1}/contracts/abi/alice.eth?cacheBuster=1&page=x`,
      { path: { contract_address: 'alice.eth' }, query: {} },
    ],
  ])('%s', async (_name, target, expected) => {
    const answer = await fetch(served.url + target);

    expect(answer.status).toBe(200);
    expect(seen).toEqual([{ path: {}, ...expected }]);
  });

  test.each([
    PAIR,
    'Transfer(address indexed from, address indexed to, uint256 value)',
    encodeURIComponent('Transfer(address indexed from, address indexed to, uint256 value)'),
    'Filled((uint256,(address,bytes32)[2])[])',
    'Done()',
    HASH,
  ])('the signature %s, decoded', async signature => {
    const answer = await fetch(`${served.url}${EVENTS}/${signature}`);

    expect(answer.status).toBe(200);
    expect(seen).toMatchObject([{ path: { signature: decodeURIComponent(signature) } }]);
  });
});

const MANY_CHAINS = Array.from({ length: 56 }, (_, index) => `chain_id=${index + 1}`).join('&');

describe('a 400 in the form of the family names', () => {
  test.each<[string, string, string]>([
    ['a limit above 1000', '/blocks?limit=1001', 'limit: must be an integer from 0 to 1000'],
    ['a limit below 0', '/blocks?limit=-1', 'limit: must be an integer from 0 to 1000'],
    ['an empty limit, which has no null', '/blocks?limit=', 'limit: must be an integer'],
    ['a page above 500', '/events/a.eth/A()?page=501', 'page: must be an integer from 0 to 500'],
    [
      'a page above 20 of NFT transfers',
      `/nfts/transfers/${ADDRESS}?page=21`,
      'page: must be an integer from 0 to 20',
    ],
    ['56 chains', `/transactions?${MANY_CHAINS}`, 'chain_id: must have at most 55 items'],
    ['a chain that is not a number', '/blocks?chain=1,x', 'chain: must be an integer'],
    ['another order', '/blocks?sort_order=ASC', 'sort_order: must be one of asc, desc'],
    ['a fraction', '/blocks?filter_block_number=1.5', 'filter_block_number: must be an integer from 0'],
    ['2^256', `/transactions?filter_value=${2n ** 256n}`, 'filter_value: must be an integer from 0'],
    ['an unknown filter', '/blocks?filter_miner=0x0', 'filter_miner: is not a parameter of this operation'],
    ['an unknown suffix', '/blocks?filter_block_number_ne=1', 'filter_block_number_ne: is not a parameter'],
    [
      'a filter of another operation',
      '/wallets/a.eth/transactions?filter_from_address=a.eth',
      'filter_from_address: is',
    ],
    [
      'a filter in an operation without filters',
      '/tokens/lookup?symbol=A&filter_x=1',
      'filter_x: is not a parameter',
    ],
    ['a short hash', '/blocks?filter_hash=0xab', 'filter_hash: must be 0x followed by 64 hexadecimal digits'],
    ['an empty hash', '/blocks?filter_hash=', 'filter_hash: must be 0x followed by 64 hexadecimal digits'],
    [
      'a long topic',
      `/events/a.eth/A()?filter_topic_1=0x${'0'.repeat(65)}`,
      'filter_topic_1: must be 0x followed by 1 to 64 hexadecimal digits',
    ],
    [
      'a short selector',
      '/transactions?filter_function_selector=0xab',
      'filter_function_selector: must be 0x followed by 8 hexadecimal digits, or 0x alone',
    ],
    [
      'a short address',
      '/contracts/abi/0x1234',
      'contract_address: must be 0x followed by 40 hexadecimal digits, or a name such as',
    ],
    [
      'a name with an empty label',
      '/contracts/abi/a..eth',
      'contract_address: must be 0x followed by 40 hexadecimal digits, or a name such as',
    ],
    [
      'a name with a quote',
      "/transactions?filter_to_address=a'--.eth",
      'filter_to_address: must be 0x followed by 40',
    ],
    [
      'a bare name of an event',
      '/events/a.eth/Transfer',
      'signature: must be the signature of an event such as Transfer(',
    ],
    [
      'a statement',
      '/events/a.eth/Transfer();drop',
      'signature: must be the signature of an event such as Transfer(',
    ],
    ['a token id in hex', '/nfts/transfers/a.eth/0x1', 'token_id: must be a non-negative decimal integer'],
    ['no symbol to look up', '/tokens/lookup', 'symbol: is required'],
    ['an empty symbol to look up', '/tokens/lookup?symbol=', 'symbol: value 1 must not be empty'],
    ['another flag', '/tokens/price?include_holders=yes', 'include_holders: must be one of true, false'],
    ['another truth', '/transactions?decode=1', 'decode: must be true or false'],
    [
      'a sort that is too long',
      `/blocks?sort_by=${'a'.repeat(513)}`,
      'sort_by: must be at most 512 characters long',
    ],
    ['too many groups', `/blocks?${'group_by=a&'.repeat(9)}`, 'group_by: must have at most 8 items'],
  ])('%s', async (_name, target, error) => {
    const answer = await fetch(served.url + V1 + target);

    expect([answer.status, await answer.json()]).toEqual([400, { error: expect.stringContaining(error) }]);
    expect(seen).toEqual([]);
  });
});

test.each([
  ['GET', '/insights', 404, 'Not found'],
  ['GET', '/insights/v2/blocks', 404, 'Not found'],
  ['GET', `${V1}/blocks/${ADDRESS}`, 404, 'Not found'],
  ['POST', `${V1}/blocks`, 405, 'POST is not allowed here'],
])('%s %s is answered in the form of the family', async (method, target, status, error) => {
  const answer = await fetch(served.url + target, { method });

  expect([answer.status, await answer.json()]).toEqual([status, { error }]);
});

test('the explorer keeps its own form of errors on the same server', async () => {
  const answer = await fetch(`${served.url}/explorer/nothing`);

  expect(await answer.json()).toEqual({ message: 'Not found' });
});
