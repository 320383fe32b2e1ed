import { expect, test } from 'vitest';
import { BackendError, type BackendErrorKind } from '#data/backends/port/backend-error.ts';
import type { InsightsAnswers, InsightsAsk } from '#data/backends/port/insights-backend.ts';
import { chain, failure, told } from '../answer-support.ts';
import { asking, memory } from './memory-support.ts';

/** Back ends of chains 1 to 3 that are one service with the given answers; `calls` are the service's. */
function service(answer: (ask: InsightsAsk) => { blocks: number } = () => ({ blocks: 1 })) {
  const calls: number[][] = [];
  const of = (chainId: number) =>
    memory(`service-${chainId}`, { chainId, answer, sharedAs: 'https://service' }, calls).backend;
  return { calls, of };
}

/** Fails when it is asked about several chains, or about the second one. */
function failsTogether(kind: BackendErrorKind, alone: readonly number[] = []) {
  return ({ chainIds }: InsightsAsk) => {
    if (chainIds.length > 1 || chainIds.some(id => alone.includes(id))) throw failure(kind);
    return { blocks: 1 };
  };
}

test('back ends that are one service are asked once about all their chains, and each is reported separately', async () => {
  const { calls, of } = service();
  const own = memory('index-2', { chainId: 2 });
  const { blocks } = asking([chain(1, of(1)), chain(2, own.backend), chain(3, of(3))]);

  const { headers, meta, data } = await blocks([1, 2, 3]);

  expect(calls).toEqual([[1, 3]]);
  expect(own.calls).toEqual([[2]]);
  expect(data).toHaveLength(3);
  expect(headers).toMatchObject({ 'X-Chain-Id': '1, 2, 3', 'X-Backend': 'service-1, index-2, service-3' });
  expect(meta).toMatchObject({ chain_ids: [1, 2, 3], total_items: 3 });
});

test('an answer of a service together with an index is kept until the index has another block', async () => {
  const { of, calls } = service();
  let revision = '1';
  const validity = () => ({ revision, epoch: 'e' });
  const { backend } = memory('index-2', { chainId: 2, validity });
  const { blocks } = asking([chain(1, of(1)), chain(2, backend), chain(3, of(3))]);

  await blocks([1, 2, 3]);
  expect((await blocks([1, 2, 3])).headers).toMatchObject({ 'X-Cache': 'HIT' });
  revision = '2';
  expect((await blocks([1, 2, 3])).headers).toMatchObject({ 'X-Cache': 'MISS' });
  expect(calls).toHaveLength(2);
});

test('an answer of a service together with an index is kept no longer than one of the service alone', async () => {
  const { of } = service();
  const validity = () => ({ revision: '1', epoch: 'e' });
  const { backend } = memory('index-2', { chainId: 2, validity });
  const lifetimes = { finalMs: 86_400_000, movingMs: 5_000, unsettledMs: 1_000, overrides: {} };
  const { blocks, clock } = asking([chain(1, of(1)), chain(2, backend)], { lifetimes });

  await blocks([1, 2]);
  clock.advance(4_999);
  expect((await blocks([1, 2])).headers).toMatchObject({ 'X-Cache': 'HIT' });
  clock.advance(1);
  expect((await blocks([1, 2])).headers).toMatchObject({ 'X-Cache': 'MISS' });
});

test('tokens from a service and an index are grouped by chain, in the order of the request', async () => {
  const insights: InsightsAnswers = {
    lookUpTokens: async (_, { chainIds }) =>
      chainIds.toSorted().map(id => ({ chain_id: id, token_address: '0x' })),
  };
  const of = (chainId: number, sharedAs?: string) =>
    memory(`m${chainId}`, { chainId, insights, ...(sharedAs === undefined ? {} : { sharedAs }) }).backend;
  const chains = [chain(1, of(1, 'https://service')), chain(2, of(2)), chain(3, of(3, 'https://service'))];
  const query = { symbol: ['X'], chain_id: [3, 2, 1] };

  const { body } = await told(asking(chains).insights.lookUpTokens({ path: {}, query }, { headers: {} }));

  expect(JSON.parse(body ?? '')).toMatchObject({ data: [{ chain_id: 3 }, { chain_id: 2 }, { chain_id: 1 }] });
});

test('a service that omits a chain from its answer is asked about each chain separately', async () => {
  const incomplete = new BackendError('unsupported', 'incomplete', 'its answer lacks a chain');
  const { calls, of } = service(({ chainIds }) => {
    if (chainIds.length > 1) throw incomplete;
    if (chainIds.includes(2)) throw new BackendError('unavailable', 'incomplete', 'its answer lacks a chain');
    return { blocks: 1 };
  });
  const { blocks } = asking([1, 2, 3].map(id => chain(id, of(id))));

  const { meta, headers } = await blocks([1, 2, 3]);

  expect(calls).toEqual([[1, 2, 3], [1], [2], [3]]);
  expect(meta).toMatchObject({ chain_ids: [1, 3], failed_chain_ids: [2] });
  expect(headers).toMatchObject({ 'X-Backend': 'service-1, service-3' });
});

test('a refusal or a missing record for one chain does not affect the service’s other chains', async () => {
  for (const kind of ['rejected', 'unsupported', 'not_found'] as const) {
    const { calls, of } = service(failsTogether(kind, [2]));
    const { blocks } = asking([1, 2, 3].map(id => chain(id, of(id))));

    const { data } = await blocks([1, 2, 3]);

    expect(data).toHaveLength(2);
    expect(calls).toHaveLength(4);
  }
});

test('a service that is out is not asked again per chain, and the chains’ other back ends are asked', async () => {
  const { calls, of } = service(() => {
    throw failure('unavailable');
  });
  const second = memory('index-2', { chainId: 2 });
  const { blocks } = asking([chain(1, of(1)), chain(2, of(2), second.backend)]);

  const { meta, headers } = await blocks([1, 2]);

  expect(calls).toEqual([[1, 2]]);
  expect(meta).toMatchObject({ chain_ids: [2], failed_chain_ids: [1] });
  expect(headers).toMatchObject({ 'X-Backend': 'index-2' });
});

test('chains whose indexes fail fall back to their shared service', async () => {
  const { calls, of } = service();
  const broken = (chainId: number) =>
    memory(`index-${chainId}`, {
      chainId,
      answer: () => {
        throw failure('unavailable');
      },
    }).backend;
  const { blocks } = asking([chain(1, broken(1), of(1)), chain(2, broken(2), of(2))]);

  const { headers } = await blocks([1, 2]);

  expect(headers).toMatchObject({ 'X-Backend': 'service-1, service-2' });
  expect(calls.flat().sort()).toEqual([1, 2]);
});
