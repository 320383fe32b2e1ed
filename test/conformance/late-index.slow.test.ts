import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ServedChain } from '../../src/data/open-chain.ts';
import { temporaryFolder } from '../indexer/support.ts';
import { startBlockscoutEmulator } from '../lab/blockscout-emulator.ts';
import { servedChain, startTestDataService } from '../lab/data-service.ts';
import { startThirdwebEmulator } from '../lab/thirdweb-emulator.ts';
import { type Answer, type Client, client } from '../support/contract-client.ts';
import { itemOf, pageOf, walk } from '../support/walk.ts';
import { filterCases, listCases, transactionCases } from './cases.ts';
import { type Ground, startGround } from './ground.ts';
import { OURS_ONLY } from './limits.ts';
import { walkList } from './list-walk.ts';
import { NO_HASH } from './suite/bench.ts';

/** First block of the index that begins late; more than a page of blocks follows. */
const FIRST = 25;
const GENERATION = 'v12';

let ground: Ground;
/** An index of the whole chain, a late one on its own, and a late one before a Blockscout and an Insight. */
let whole: Client;
let alone: Client;
let backed: Client;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  ground = stack.use(await startGround());
  const { folder, remove } = await temporaryFolder();
  stack.defer(remove);
  const { indexUrl: serviceUrl, abis } = ground;
  const blockscout = stack.use(await startBlockscoutEmulator({ generation: GENERATION, serviceUrl, abis }));
  const insight = stack.use(await startThirdwebEmulator({ generation: '2025-10', serviceUrl }));
  whole = client(serviceUrl);
  alone = await late(join(folder, 'alone.db'), []);
  backed = await late(join(folder, 'backed.db'), [
    { kind: 'blockscout', url: blockscout.url, apiKey: undefined },
    { kind: 'insight', url: insight.url, clientId: undefined },
  ]);
});
afterAll(() => stack.disposeAsync());

async function late(file: string, behind: ServedChain['backends']): Promise<Client> {
  const served = servedChain({ ...ground.chain, rpcUrl: ground.rpcUrl }, '.');
  const index = { kind: 'index' as const, database: { file }, fromBlock: FIRST, pollMs: 50 };
  const service = await startTestDataService([], {
    chains: [{ ...served, backends: [index, ...behind] }],
    rateLimitPerMinute: 1e9,
  });
  stack.use(service);
  return client(service.url);
}

/** Blocks before the first one of the index, and everything about their transactions, by number and by hash. */
async function earlier(): Promise<string[]> {
  const heights = [0, 1, 7, FIRST - 2, FIRST - 1];
  const blocks = await Promise.all(heights.map(height => whole.get(`/explorer/blocks/${height}`)));
  const transactions = await whole.get(`/explorer/blocks/${FIRST - 1}/transactions`);
  const [first] = pageOf(transactions.body).items;
  return [
    ...[...heights, ...blocks.map(({ body }) => itemOf(body).hash)].flatMap(id => [
      `/explorer/blocks/${id}`,
      `/explorer/blocks/${id}/transactions`,
      `/explorer/blocks/${id}/withdrawals`,
    ]),
    ...sharedCases(String(first?.hash)),
  ];
}

/** Requests that only an index of the whole chain can answer. */
function aboutAll(): string[] {
  const { holder, nobody } = ground.places;
  const address = `/explorer/addresses/${nobody}`;
  return [
    '/explorer/stats',
    '/explorer/stats/charts/market',
    '/explorer/addresses',
    `/explorer/addresses/${holder}/tokens`,
    `/explorer/addresses/${holder}/nft`,
    ...['logs', 'internal-transactions', 'withdrawals', 'blocks-validated'].map(part => `${address}/${part}`),
    '/explorer/search?q=nothing+is+called+this',
    '/explorer/search/quick?q=nothing+is+called+this',
    '/explorer/smart-contracts?q=nothing+is+called+this',
    '/explorer/smart-contracts/counters',
    '/explorer/search/check-redirect?q=nothing',
    `/explorer/search/check-redirect?q=${NO_HASH}`,
    `/explorer/transactions/${NO_HASH}`,
    `/explorer/blocks/${NO_HASH}`,
  ];
}

const BEGINS_LATE = expect.stringContaining(`(index): the index begins at block ${FIRST}`);
const asked = ({ status, headers }: Answer) => `${status} ${headers.get('x-backend')}`;

describe('an index that begins late, before a Blockscout', () => {
  test('leaves everything before its first block to the Blockscout', async () => {
    for (const path of await earlier()) {
      const answer = await backed.get(path);
      expect([path, asked(answer)]).toEqual([path, `200 blockscout-${ground.chain.id}-2`]);
    }
  });

  test('answers from its own blocks itself', async () => {
    const { items } = pageOf((await whole.get(`/explorer/blocks/${FIRST + 5}/transactions`)).body);
    const paths = [
      `/explorer/blocks/${FIRST}`,
      '/explorer/blocks',
      '/explorer/transactions',
      ...sharedCases(String(items[0]?.hash)),
    ];
    for (const path of paths) {
      const answer = await backed.get(path);
      expect([path, asked(answer)]).toEqual([path, `200 index-${ground.chain.id}`]);
    }
  });

  test('passes on totals over the whole chain, and “not found”', async () => {
    for (const path of aboutAll()) {
      const [answer, expected] = await Promise.all([backed.get(path), whole.get(path)]);
      expect([path, answer.status]).toEqual([path, expected.status]);
    }
    const [ours, theirs] = await Promise.all([backed.get('/explorer/stats'), whole.get('/explorer/stats')]);
    expect(itemOf(ours.body).total_blocks).toBe(itemOf(theirs.body).total_blocks);
  });

  test('has every list of an address complete, by its cursors', async () => {
    const lists = [...listCases(ground.places), ...filterCases(ground.places)];
    for (const list of lists.filter(({ path }) => path.startsWith('/explorer/addresses/'))) {
      const expected = await walkList(whole, list, 'cursor');
      const found = await walkList(backed, list, 'cursor');

      expect(found.items.map(list.identity), list.path).toEqual(expected.items.map(list.identity));
    }
  });

  const feeds = () => {
    const paths: readonly string[] = ['/explorer/blocks', '/explorer/transactions'];
    return listCases(ground.places).filter(({ path, query }) => paths.includes(path) && !query);
  };

  test.each(['keys', 'everything'] as const)(
    'begins a feed that the Blockscout completes, by %s',
    async way => {
      const lists = feeds();
      for (const list of lists) {
        const expected = await walkList(whole, list, way);
        const found = await walkList(backed, list, way);

        expect(asked(await backed.get(list.path)), list.path).toBe(`200 index-${ground.chain.id}`);
        expect(found.items.map(list.identity), list.path).toEqual(expected.items.map(list.identity));
      }
      expect(lists).toHaveLength(2);
    },
  );

  test('names the keys to send back when the cursor alone cannot cross its first block', async () => {
    for (const list of feeds()) {
      await expect(walkList(backed, list, 'cursor'), list.path).rejects.toThrow('next_page_params');
    }
  });
});

describe('an index that begins late, alone', () => {
  test('reports its first block instead of “not found”', async () => {
    for (const path of [...(await earlier()), ...aboutAll()]) {
      const { status, body } = await alone.get(path);
      expect([path, status, itemOf(body).message]).toEqual([path, 501, BEGINS_LATE]);
    }
  });

  test('knows that a later block does not exist', async () => {
    expect((await alone.get('/explorer/blocks/100000')).status).toBe(404);
  });

  test('ends a list at its first block', async () => {
    await expect(walk(alone, '/explorer/blocks')).rejects.toThrow('501');
  });
});

describe('insights over an index that begins late', () => {
  const count = async (api: Client, filter = '') => {
    const { status, body } = await api.get(`/insights/v1/blocks?aggregate=count()${filter}`);
    const { aggregations, meta } = itemOf(body);
    const [row] = Array.isArray(aggregations) ? aggregations : [];
    return { status, count: itemOf(row)['count()'], first: itemOf(meta).first_blocks };
  };
  const first = () => [{ chain_id: ground.chain.id, block_number: FIRST }];

  test('count everything where another back end can', async () => {
    const all = await count(whole);

    expect(await count(backed)).toEqual(all);
    expect(all.first).toBeUndefined();
  });

  test('count the indexed blocks and name the first one where no back end has all', async () => {
    const all = Number((await count(whole)).count);

    expect(await count(alone)).toEqual({ status: 200, count: all - FIRST, first: first() });
    const { body } = await alone.get('/insights/v1/blocks?limit=1&sort_order=asc');
    expect(itemOf(body)).toMatchObject({
      data: [{ block_number: FIRST }],
      meta: { total_items: all - FIRST, first_blocks: first() },
    });
  });

  test.each([[`_gte=${FIRST}`], [`_gt=${FIRST - 1}`], [`=${FIRST}`]])(
    'answer alone when the filter starts at the first block: filter_block_number%s',
    async from => {
      const filter = `&filter_block_number${from}`;
      const expected = await count(whole, filter);

      expect(await count(alone, filter)).toEqual(expected);
      const { headers } = await backed.get(`/insights/v1/blocks?limit=1${filter}`);
      expect(headers.get('x-backend')).toBe(`index-${ground.chain.id}`);
    },
  );

  const timeOf = async (number: number) => {
    const { body } = await whole.get(`/insights/v1/blocks?filter_block_number=${number}`);
    const { data } = itemOf(body);
    return Number(itemOf(Array.isArray(data) ? data[0] : undefined).block_timestamp);
  };

  test.each([
    ['gte', 1],
    ['gt', 0],
    ['gt', 1],
  ] as const)(
    'answer alone for times after the first block: filter_block_timestamp_%s, %i seconds later',
    async (operator, seconds) => {
      const filter = `&filter_block_timestamp_${operator}=${(await timeOf(FIRST)) + seconds}`;
      const expected = await count(whole, filter);

      expect(await count(alone, filter)).toEqual(expected);
      expect(Number(expected.count)).toBeGreaterThan(0);
      const { headers } = await backed.get(`/insights/v1/blocks?limit=1${filter}`);
      expect(headers.get('x-backend')).toBe(`index-${ground.chain.id}`);
    },
  );

  test('treat the first block’s own time as too early, because an earlier block may share it', async () => {
    const filter = `&filter_block_timestamp_gte=${await timeOf(FIRST)}`;

    expect((await count(alone, filter)).first).toEqual(first());
    expect(await count(backed, filter)).toEqual(await count(whole, filter));
  });

  test('treat one block earlier as too early', async () => {
    expect((await count(alone, `&filter_block_number_gte=${FIRST - 1}`)).first).toEqual(first());
  });

  test('resolve a text completely where another back end can, and else from the first block on', async () => {
    const resolve = async (api: Client, text: string) => {
      const { body, headers } = await api.get(`/insights/v1/resolve/${text}`);
      const { data, meta } = itemOf(body);
      const { type } = itemOf(data);
      return { type, first: itemOf(meta).first_blocks, by: headers.get('x-backend')?.split('-')[0] };
    };
    const block = { type: 'block', first: undefined };

    expect(await resolve(backed, `${FIRST - 1}`)).toEqual({ ...block, by: 'insight' });
    expect(await resolve(alone, `${FIRST - 1}`)).toEqual({ type: 'unknown', first: first(), by: 'index' });
    expect(await resolve(backed, `${FIRST}`)).toEqual({ ...block, by: 'index' });
    expect(await resolve(alone, `${FIRST}`)).toEqual({ ...block, by: 'index' });
  });

  test('answer 404 for an unknown NFT contract', async () => {
    const path = `/insights/v1/nfts/transfers/${ground.places.nobody}`;

    expect((await alone.get(path)).status).toBe((await whole.get(path)).status);
  });
});

/** Paths about a transaction that a Blockscout has, too. */
function sharedCases(hash: string): string[] {
  return transactionCases(hash)
    .filter(({ operation }) => !OURS_ONLY.includes(operation))
    .map(({ path }) => path);
}
