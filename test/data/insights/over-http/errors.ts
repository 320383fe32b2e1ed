import { keccak256, toHex } from 'viem';
import { describe, expect, test } from 'vitest';
import { rawGet } from '#test/support/raw-request.ts';
import { type Envelope, type Event, type Ground, pathOf, type Query, type Row } from './ground.ts';

const TRANSFER = 'Transfer(address,address,uint256)';
const NOBODY = `0x${'77'.repeat(20)}`;

/** Refused requests with their messages, and accepted borderline ones. */
export function errorsAreInTheFamilysForm(ground: () => Ground): void {
  describe('signatures', () => {
    test('in every spelling name the same event', async () => {
      const { read, chains } = ground();
      const [{ id, contract }] = chains;
      const path = `/events/${contract('Community Token')}`;
      const topic = keccak256(toHex(TRANSFER));
      const plain = await read<Envelope<Event>>(`${path}/${TRANSFER}`, { chain_id: id });
      for (const spelling of [
        encodeURIComponent(TRANSFER),
        '%54ransfer%28address%2Caddress%2Cuint256%29',
        encodeURIComponent(' Transfer ( address , address , uint256 ) '),
        encodeURIComponent('Transfer(address from, address to, uint256 value)'),
        encodeURIComponent('Transfer(address indexed from, address indexed to, uint256 value)'),
        encodeURIComponent('Transfer(index_topic_1 address from, index_topic_2 address to, uint256 value)'),
        encodeURIComponent('Transfer(address,address,uint)'),
        topic,
        topic.toUpperCase().replace('0X', '0x'),
      ]) {
        const { data, meta } = await read<Envelope<Event>>(`${path}/${spelling}`, { chain_id: id });
        expect(
          data.map(({ decoded: _, ...row }) => row),
          spelling,
        ).toEqual(plain.data);
        expect([spelling, meta]).toEqual([spelling, { ...plain.meta, signature: topic }]);
      }
      expect(plain.data.length).toBeGreaterThan(5);
    });

    test('of any other form are a 400', async () => {
      const { api } = ground();
      for (const signature of [
        'Transfer',
        'Transfer(',
        'Transfer(address',
        'Transfer(nonsense)',
        'Transfer(address))',
        'Transfer(uint7)',
        '(address)',
        '0x12',
        `0x${'g'.repeat(64)}`,
        'Transfer(address indexed indexed)',
        'Transfer(address);drop',
        `event ${TRANSFER}`,
        'A(uint256[0] x)',
        'A(address payable x)',
        'A(uint256 calldata)',
        'function(uint256)',
        'constructor()',
        `T(${'uint256,'.repeat(200)}uint256)`,
      ]) {
        const { status, body } = await api.get(pathOf(`/events/${NOBODY}/${encodeURIComponent(signature)}`));
        expect([signature, status, body]).toEqual([
          signature,
          400,
          { error: expect.stringContaining('signature') },
        ]);
      }
    });
  });

  describe('errors', () => {
    const told = async (path: string, query: Query = {}) => {
      const { status, body, headers } = await ground().api.get(pathOf(path, query));
      return { status, body, kept: headers.get('cache-control') };
    };
    const refused = (status: number, words: string) => ({
      status,
      body: { error: expect.stringContaining(words) },
      kept: 'no-store',
    });

    test('for parameters that break a rule are a 400 that names them', async () => {
      const nfts = `/nfts/transfers/${NOBODY}`;
      const ids = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
      const cases: [string, Query, string][] = [
        ['/blocks', { page: 21 }, 'page'],
        ['/blocks', { page: 501, aggregate: 'count()' }, 'page'],
        ['/blocks', { page: 501, group_by: 'miner' }, 'page'],
        ['/blocks', { page: -1 }, 'page'],
        ['/blocks', { limit: 1001 }, 'limit'],
        ['/blocks', { limit: -1 }, 'limit'],
        ['/blocks', { limit: '' }, 'limit'],
        ['/blocks', { limit: [1, 2] }, 'limit'],
        ['/blocks', { sort_order: 'up' }, 'sort_order'],
        ['/blocks', { sort_by: '' }, 'sort_by'],
        ['/blocks', { chain_id: 'x' }, 'chain_id'],
        ['/blocks', { chain_id: '' }, 'chain_id'],
        ['/blocks', { chain_id: 0 }, 'chain_id'],
        ['/blocks', { chain_id: ids(56) }, 'chain_id'],
        ['/blocks', { chain_id: ids(30), chain: ids(26) }, 'chain_id'],
        ['/blocks', { chain_id: 999 }, 'chain_id'],
        ['/blocks', { filter_value: 1 }, 'filter_value'],
        ['/blocks', { filter_nonsense: 1 }, 'filter_nonsense'],
        ['/transactions', { filter_topic_1: '0x1' }, 'filter_topic_1'],
        ['/transactions', { filter_chain_id: 1 }, 'filter_chain_id'],
        ['/transactions', { filter_value_in: '1,2' }, 'filter_value_in'],
        ['/transactions', { filter_value_: 1 }, 'filter_value_'],
        ['/transactions', { filter_value: '1.5' }, 'filter_value'],
        ['/transactions', { filter_value: '1.5e0' }, 'filter_value'],
        ['/transactions', { filter_value: '-1' }, 'filter_value'],
        ['/transactions', { filter_value: '0x1' }, 'filter_value'],
        ['/transactions', { filter_value: (2n ** 256n).toString() }, 'filter_value'],
        ['/transactions', { filter_value: [1, 2] }, 'filter_value'],
        ['/transactions', { filter_hash: '0x12' }, 'filter_hash'],
        ['/transactions', { filter_hash: '' }, 'filter_hash'],
        ['/transactions', { filter_function_selector: '0x1234' }, 'filter_function_selector'],
        ['/transactions', { filter_from_address: '0x12' }, 'filter_from_address'],
        ['/transactions', { decode: 'perhaps' }, 'decode'],
        [`/wallets/${NOBODY}/transactions`, { filter_from_address: NOBODY }, 'filter_from_address'],
        ['/transactions/0x12', {}, 'contract_address'],
        [`/transactions/${NOBODY}`, { filter_to_address: NOBODY }, 'filter_to_address'],
        ['/events', { filter_topic_0: '0x' }, 'filter_topic_0'],
        ['/events', { filter_address: '0x12' }, 'filter_address'],
        ['/events/0x12', {}, 'contract_address'],
        [`/events/${NOBODY}`, { filter_address: NOBODY }, 'filter_address'],
        [`/events/${NOBODY}/${TRANSFER}`, { filter_topic_0: '0x1' }, 'filter_topic_0'],
        [`/events/${NOBODY}/${TRANSFER}`, { filter_topic_1: `0x${'1'.repeat(65)}` }, 'filter_topic_1'],
        ['/tokens/lookup', {}, 'symbol'],
        ['/tokens/lookup', { symbol: '' }, 'symbol'],
        ['/tokens/price', {}, 'address'],
        ['/tokens/price', { symbol: 'null' }, 'address'],
        ['/tokens/price', { address: '0x12' }, 'address'],
        ['/tokens/price', { symbol: 'A', timestamp: -1 }, 'timestamp'],
        ['/tokens/price', { symbol: 'A', include_holders: 'maybe' }, 'include_holders'],
        [nfts, { page: 21 }, 'page'],
        [nfts, { metadata: 'yes' }, 'metadata'],
        [`${nfts}/-1`, {}, 'token_id'],
        [`${nfts}/0x1`, {}, 'token_id'],
        ['/contracts/abi/0x12', {}, 'contract_address'],
      ];
      for (const [path, query, words] of cases)
        expect([path, query, await told(path, query)]).toEqual([path, query, refused(400, words)]);
    });

    test('for unknown chains are a 404 in operations with 404s', async () => {
      const query = { chain_id: 999 };
      expect(await told(`/nfts/transfers/${NOBODY}`, query)).toEqual(refused(404, '999'));
      expect(await told(`/nfts/transfers/${NOBODY}/1`, query)).toEqual(refused(404, '999'));
      expect(await told(`/contracts/abi/${NOBODY}`, query)).toEqual(refused(404, '999'));
      expect(await told('/tokens/lookup', { ...query, symbol: 'X' })).toEqual(refused(400, 'chain_id'));
      expect(await told('/tokens/price', { ...query, symbol: 'X' })).toEqual(refused(400, 'chain_id'));
      expect(await told(`/wallets/${NOBODY}/transactions`, query)).toEqual(refused(400, 'chain_id'));
    });

    test('for unknown NFT contracts and ABIs are a 404, which queries do not have', async () => {
      const [{ id, contract }, other] = ground().chains;
      const query = { chain_id: [id, other.id] };
      expect(await told(`/nfts/transfers/${NOBODY}`, query)).toEqual(refused(404, NOBODY));
      const coin = contract('Community Token');
      expect(await told(`/nfts/transfers/${coin}`, query)).toEqual(refused(404, coin));
      expect(await told(`/contracts/abi/${NOBODY}`, query)).toEqual(refused(404, NOBODY));
      for (const path of [
        `/transactions/${NOBODY}`,
        `/events/${NOBODY}`,
        `/events/${NOBODY}/${TRANSFER}`,
        `/wallets/${NOBODY}/transactions`,
      ]) {
        const { status, body } = await told(path, query);
        expect([status, body]).toEqual([
          200,
          { data: [], meta: expect.objectContaining({ total_items: 0, total_pages: 0 }) },
        ]);
      }
    });

    test('have one form everywhere below the family, including unknown paths and methods', async () => {
      const { url } = ground();
      for (const [target, method, status] of [
        ['/insights', 'GET', 404],
        ['/insights/', 'GET', 404],
        ['/insights/v1', 'GET', 404],
        ['/insights/v2/blocks', 'GET', 404],
        ['/insights/v1/nothing', 'GET', 404],
        ['/insights/v1/blocks/1', 'GET', 404],
        ['/insights/v1/events/0x12/a/b', 'GET', 404],
        ['/insights/v1/blocks', 'POST', 405],
        ['/insights/v1/tokens/price', 'DELETE', 405],
        ['/insights/v1/%zz', 'GET', 400],
      ] as const) {
        const answer = await rawGet(url, target, method);
        const body: unknown = JSON.parse(answer.body);
        expect([target, answer.status, body]).toEqual([target, status, { error: expect.any(String) }]);
      }
      const explorer: unknown = JSON.parse((await rawGet(url, '/insightsx')).body);
      expect(explorer).toEqual({ message: expect.any(String) });
    });

    test('are not caused by undeclared parameters', async () => {
      const { read } = ground();
      const plain = await read<Envelope<Row>>('/blocks');
      const other = await read<Envelope<Row>>('/blocks', {
        utm_source: 'x',
        decode: 'perhaps',
        clientId: 'y',
      });

      expect(other).toEqual(plain);
    });

    test('start beyond the last page: page 20, or page 500 with groups, is still answered', async () => {
      expect(await told('/blocks', { page: 20 })).toMatchObject({ status: 200, body: { data: [] } });
      expect(await told('/blocks', { page: 500, group_by: 'miner' })).toMatchObject({
        status: 200,
        body: { aggregations: [] },
      });
    });
  });
}
