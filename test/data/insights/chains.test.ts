import { describe, expect, test } from 'vitest';
import { BackendError } from '#data/backends/port/backend-error.ts';
import type { InsightsAnswers } from '#data/backends/port/insights-backend.ts';
import { chain, failure } from '../answer-support.ts';
import { asking, memory } from './memory-support.ts';

const out = () => {
  throw failure('unavailable');
};
const OWNER = `0x${'a'.repeat(40)}`;
const BALANCES = {
  metadata: 'false',
  include_native: 'true',
  include_spam: 'false',
  include_without_price: 'true',
  sort_by: 'balance',
  sort_order: 'asc',
  limit: 20,
  page: 0,
} as const;
const settle = () => new Promise(resolve => setImmediate(resolve));

describe('several chains', () => {
  test('are asked concurrently and listed in the order of the request', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const calls: number[] = [];
    const slow = (id: number) =>
      memory(`m${id}`, {
        chainId: id,
        insights: {
          async lookUpTokens(_, { chainIds }) {
            calls.push(...chainIds);
            await promise;
            return [{ chain_id: id, token_address: '0x' }];
          },
        },
      }).backend;
    const { insights } = asking([chain(1, slow(1)), chain(2, slow(2)), chain(3, slow(3))]);

    const query = { symbol: ['X'], chain_id: [3, 1, 2] };
    const pending = insights.lookUpTokens({ path: {}, query }, { headers: {} });
    await settle();
    expect(calls).toEqual([3, 1, 2]);
    resolve();

    expect((await pending).headers).toMatchObject({ 'X-Chain-Id': '3, 1, 2', 'X-Backend': 'm3, m1, m2' });
  });

  test('add up their totals, and the longest determines the number of pages', async () => {
    const { blocks } = asking([
      chain(1, memory('a', { chainId: 1, answer: () => ({ blocks: 2 }) }).backend),
      chain(2, memory('b', { chainId: 2, answer: () => ({ blocks: 5, isCapped: true }) }).backend),
    ]);

    const { data, meta } = await blocks([1, 2]);

    expect(data).toHaveLength(7);
    expect(meta).toMatchObject({
      chain_ids: [1, 2],
      total_items: 7,
      total_items_capped: true,
      total_pages: 5,
    });
  });

  test('that fail are named in the order of the request, and the others are answered', async () => {
    const { blocks } = asking([
      chain(1),
      chain(2, memory('b', { chainId: 2 }).backend),
      chain(3, memory('c', { chainId: 3, answer: out }).backend),
    ]);

    const { meta, headers } = await blocks([3, 1, 2]);

    expect(meta).toMatchObject({ chain_ids: [2], failed_chain_ids: [3, 1] });
    expect(headers).toMatchObject({ 'X-Chain-Id': '2', 'X-Backend': 'b', 'X-Cache': 'MISS' });
    expect(JSON.stringify(meta)).not.toContain('secret');
  });

  test('with one in outage give an answer that is kept for only 30 s', async () => {
    const { blocks, clock } = asking([
      chain(1, memory('a', { chainId: 1, answer: out }).backend),
      chain(2, memory('b', { chainId: 2 }).backend),
    ]);
    await blocks([1, 2]);
    clock.advance(29_999);
    expect((await blocks([1, 2])).headers).toMatchObject({ 'X-Cache': 'HIT' });
    clock.advance(1);
    expect((await blocks([1, 2])).headers).toMatchObject({ 'X-Cache': 'MISS' });
  });

  test.each([
    ['unavailable', 500],
    ['unsupported', 500],
    ['rejected', 400],
  ] as const)('that are all %s are a %i', async (kind, status) => {
    const answer = () => {
      throw failure(kind);
    };
    const { blocks } = asking([
      chain(1, memory('a', { chainId: 1, answer }).backend),
      chain(2, memory('b', { chainId: 2, answer }).backend),
    ]);

    await expect(blocks([1, 2])).rejects.toMatchObject({
      status,
      message: expect.stringContaining('it was'),
    });
    await expect(blocks([1, 2], { aggregate: ['count()'] })).rejects.toMatchObject({ status });
  });

  test('without a back end are a 500 that says so', async () => {
    await expect(asking([chain(1), chain(2)]).blocks([1, 2])).rejects.toMatchObject({
      status: 500,
      message: 'No configured back end has this answer: no back end is configured',
    });
  });

  test('that are all out get the expired answer, where there is one', async () => {
    let isOut = false;
    const answer = () => (isOut ? out() : { blocks: 1 });
    const { blocks, clock } = asking([
      chain(1, memory('a', { chainId: 1, answer }).backend),
      chain(2, memory('b', { chainId: 2, answer }).backend),
    ]);
    await blocks([1, 2]);
    isOut = true;
    clock.advance(3_600_000);

    expect((await blocks([1, 2])).headers).toMatchObject({ 'X-Cache': 'STALE', 'X-Chain-Id': '1, 2' });
  });

  test('are answered without the one that refuses', async () => {
    const answer = () => {
      throw failure('rejected');
    };
    const { blocks } = asking([
      chain(1, memory('a', { chainId: 1, answer }).backend),
      chain(2, memory('b', { chainId: 2 }).backend),
    ]);

    expect((await blocks([1, 2])).meta).toMatchObject({ chain_ids: [2], failed_chain_ids: [1] });
  });

  test('with one that refuses are a 400 with its advice, where there is no `meta` to name it', async () => {
    const refuse = async () => {
      throw new BackendError('rejected', 'bad_input', 'too many of them: name tokens');
    };
    const of = (id: number, insights: InsightsAnswers) =>
      chain(id, memory(`m${id}`, { chainId: id, insights }).backend);
    const answering: InsightsAnswers = { listTokenBalances: async () => [], lookUpTokens: async () => [] };
    const chains = [of(1, answering), of(2, { listTokenBalances: refuse, lookUpTokens: refuse })];
    const { insights } = asking(chains);
    const chain_id = [1, 2];

    const refused = { status: 400, message: 'too many of them: name tokens' };
    const looked = insights.lookUpTokens({ path: {}, query: { symbol: ['X'], chain_id } }, { headers: {} });
    await expect(looked).rejects.toMatchObject(refused);
    const listed = insights.listTokenBalances(
      { path: {}, query: { ...BALANCES, owner_address: [OWNER], chain_id } },
      { headers: {} },
    );
    await expect(listed).rejects.toMatchObject(refused);
  });

  test('merge their groups into one set', async () => {
    const { blocks } = asking([
      chain(1, memory('a', { chainId: 1, answer: () => ({ blocks: 2 }) }).backend),
      chain(2, memory('b', { chainId: 2, answer: () => ({ blocks: 5 }) }).backend),
    ]);

    expect((await blocks([1, 2], { aggregate: ['count() as n'] })).aggregations).toEqual([{ n: 7 }]);
  });
});

describe('fallback', () => {
  test.each(['unavailable', 'unsupported'] as const)('continues after a back end that is %s', async kind => {
    const answer = () => {
      throw failure(kind);
    };
    const { blocks } = asking([
      chain(1, memory('a', { chainId: 1, answer }).backend, memory('b', { chainId: 1 }).backend),
    ]);

    const { headers, meta } = await blocks([1]);

    expect(headers).toMatchObject({ 'X-Backend': 'b', 'X-Chain-Id': '1' });
    expect(meta.failed_chain_ids).toBeUndefined();
  });

  test('continues after a back end without such an answer, and stops at one that refuses', async () => {
    const answer = () => {
      throw failure('rejected');
    };
    const none = { ...memory('none', { chainId: 1 }).backend, insights: {} };
    const asked = memory('b', { chainId: 1 });

    expect((await asking([chain(1, none, asked.backend)]).blocks([1])).headers).toMatchObject({
      'X-Backend': 'b',
    });
    const refusing = asking([chain(1, memory('a', { chainId: 1, answer }).backend, asked.backend)]);
    await expect(refusing.blocks([1])).rejects.toMatchObject({ status: 400 });
    expect(asked.calls).toHaveLength(1);
  });
});

describe('names', () => {
  const unknown = () => {
    throw new BackendError('not_found', 'unknown_name', 'no address is known by the name x.eth');
  };

  test('that no chain knows are a 400, and a 404 in operations with 404s', async () => {
    const insights = { listNftTransfers: async () => unknown(), getContractAbi: async () => unknown() };
    const handlers = asking([chain(1, memory('a', { chainId: 1, answer: unknown, insights }).backend)]);
    const path = { contract_address: 'x.eth' };
    const flags = { limit: 1, page: 0, metadata: 'false', include_owners: 'false' } as const;
    const caller = { headers: {} };

    await expect(handlers.blocks([1])).rejects.toMatchObject({ status: 400 });
    const nfts = handlers.insights.listNftTransfers({ path, query: flags }, caller);
    await expect(nfts).rejects.toMatchObject({ status: 404 });
    const abi = handlers.insights.getContractAbi({ path, query: {} }, caller);
    await expect(abi).rejects.toMatchObject({ status: 404 });
  });

  test('that one chain does not know give no rows for that chain', async () => {
    const { blocks } = asking([
      chain(1, memory('a', { chainId: 1 }).backend),
      chain(2, memory('b', { chainId: 2, answer: unknown }).backend),
      chain(3, memory('c', { chainId: 3, answer: out }).backend),
    ]);

    const { data, meta } = await blocks([3, 2, 1]);

    expect(data).toHaveLength(1);
    expect(meta).toMatchObject({ chain_ids: [2, 1], failed_chain_ids: [3], total_items: 1 });
  });
});

describe('without a named chain', () => {
  const looking = (id: number, found: 'something' | 'nothing' | 'out') =>
    chain(
      id,
      memory(`m${id}`, {
        chainId: id,
        insights: {
          lookUpTokens: async () => {
            if (found === 'out') throw failure('unavailable');
            return found === 'nothing' ? [] : [{ chain_id: id, token_address: '0x' }];
          },
        },
      }).backend,
    );
  const look = async (...chains: ReturnType<typeof looking>[]) =>
    (await asking(chains).insights.lookUpTokens({ path: {}, query: { symbol: ['X'] } }, { headers: {} }))
      .headers;

  test('the first chain with a result answers', async () => {
    expect(await look(looking(1, 'nothing'), looking(2, 'something'), looking(3, 'something'))).toMatchObject(
      {
        'X-Chain-Id': '2',
      },
    );
    expect(await look(looking(1, 'out'), looking(2, 'something'))).toMatchObject({ 'X-Chain-Id': '2' });
  });

  test('an empty result comes from the first chain that was available', async () => {
    expect(await look(looking(1, 'out'), looking(2, 'nothing'), looking(3, 'nothing'))).toMatchObject({
      'X-Chain-Id': '2',
    });
    await expect(look(looking(1, 'out'), looking(2, 'out'))).rejects.toMatchObject({ status: 500 });
  });

  test('a query covers only the first chain', async () => {
    const second = memory('b', { chainId: 2 });
    const { blocks } = asking([chain(1, memory('a', { chainId: 1 }).backend), chain(2, second.backend)]);

    expect((await blocks()).meta.chain_ids).toEqual([1]);
    expect(second.calls).toEqual([]);
  });
});

describe('a back end without the first blocks', () => {
  const withPart = () => {
    const part = memory('part', { chainId: 1 });
    const whole = memory('own', {
      chainId: 1,
      answer: () => {
        throw new BackendError('unsupported', 'not_indexed', 'its first blocks are not indexed');
      },
    });
    const { insights = {} } = part.backend;
    return { part, own: { ...whole.backend, partial: () => ({ firstBlock: 10, insights }) } };
  };

  test('answers in part while the others are out', async () => {
    const { part, own } = withPart();

    await asking([chain(1, own, memory('other', { chainId: 1, answer: out }).backend)]).blocks();

    expect(part.calls).toEqual([[1]]);
  });

  test('is not asked in part after another one refused the request', async () => {
    const { part, own } = withPart();
    const refuse = () => {
      throw failure('rejected');
    };
    const refusing = memory('other', { chainId: 1, answer: refuse }).backend;

    await expect(asking([chain(1, own, refusing)]).blocks()).rejects.toMatchObject({ status: 400 });

    expect(part.calls).toEqual([]);
  });
});
