import { describe, expect, test } from 'vitest';
import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { record } from '../../lab/json.ts';
import { chain, failure, told } from '../answer-support.ts';
import { asking, memory } from './memory-support.ts';

type ResolvedInput = InsightsSchemas['ResolvedInput'];

const ADDRESS = `0x${'a1'.repeat(20)}`;
const OTHER = `0x${'b2'.repeat(20)}`;

/** A chain that gives every text this type, or whose back end is out. */
function naming(id: number, found: ResolvedInput | Promise<ResolvedInput> | 'out', calls: number[] = []) {
  const resolveInput = async () => {
    calls.push(id);
    if (found === 'out') throw failure('unavailable');
    return found;
  };
  return chain(id, memory(`m${id}`, { chainId: id, insights: { resolveInput } }).backend);
}

async function resolve(chains: ReturnType<typeof naming>[], { text = ADDRESS, ids = [] as number[] } = {}) {
  const query = ids.length === 0 ? {} : { chain_id: ids };
  const { insights } = asking(chains);
  const answer = await told(insights.resolveInput({ path: { input: text }, query }, { headers: {} }));
  const { data, meta } = record(JSON.parse(answer.body ?? ''));
  return { data, meta: record(meta), chainIds: answer['X-Chain-Id'] };
}

describe('without a chain', () => {
  test('an account without a transaction continues the search, and code ends it', async () => {
    const calls: number[] = [];
    const empty: ResolvedInput = { type: 'address', address: ADDRESS, transactions: [] };
    const code: ResolvedInput = { type: 'contract', address: ADDRESS, transactions: [] };

    const found = await resolve([naming(1, empty, calls), naming(2, code, calls), naming(3, code, calls)]);

    expect(found).toMatchObject({ data: code, meta: { chain_ids: [1, 2] }, chainIds: '2' });
    expect(calls).toEqual([1, 2]);
  });

  test('when no chain knows more, the first chain’s account is returned', async () => {
    const empty: ResolvedInput = { type: 'address', address: ADDRESS, transactions: [] };

    expect(await resolve([naming(1, 'out'), naming(2, empty), naming(3, { type: 'unknown' })])).toMatchObject(
      {
        data: empty,
        meta: { chain_ids: [2, 3], failed_chain_ids: [1], total_items: 0 },
        chainIds: '2',
      },
    );
  });

  test('“unknown” names the unavailable chains, and is a failure when all were unavailable', async () => {
    const found = await resolve([naming(1, { type: 'unknown' }), naming(2, 'out')]);

    expect(found).toMatchObject({
      data: { type: 'unknown' },
      meta: { chain_ids: [1], failed_chain_ids: [2] },
    });
    await expect(resolve([naming(1, 'out'), naming(2, 'out')])).rejects.toMatchObject({ status: 500 });
  });
});

describe('several chains', () => {
  const ids = [1, 2, 3];

  test('resolve an address to a contract if one of them has code, and a name to the first one’s contract', async () => {
    const found = await resolve(
      [
        naming(1, { type: 'unknown' }),
        naming(2, { type: 'address', address: OTHER, transactions: [] }),
        naming(3, { type: 'contract', address: ADDRESS, transactions: [] }),
      ],
      { text: 'some.eth', ids },
    );

    expect(found.data).toEqual({ type: 'contract', address: OTHER, transactions: [] });
    expect(found.meta).toMatchObject({ chain_ids: ids });
  });

  test('resolve a name to the first one’s contract, also when that one answers last', async () => {
    const first = Promise.withResolvers<ResolvedInput>();
    const calls: number[] = [];
    const second: ResolvedInput = { type: 'contract', address: OTHER, transactions: [] };

    const found = resolve([naming(1, first.promise, calls), naming(2, second, calls)], { ids: [1, 2] });
    await expect.poll(() => calls).toEqual([1, 2]);
    await new Promise(resolved => setImmediate(resolved));
    first.resolve({ type: 'contract', address: ADDRESS, transactions: [] });

    expect((await found).data).toMatchObject({ address: ADDRESS });
  });

  test('return the result that only one of them has, and name those that could not answer', async () => {
    const found = await resolve(
      [naming(1, 'out'), naming(2, { type: 'unknown' }), naming(3, { type: 'block', blocks: [] })],
      { text: '7', ids },
    );

    expect(found.data).toEqual({ type: 'block', blocks: [] });
    expect(found.meta).toMatchObject({ chain_ids: [2, 3], failed_chain_ids: [1] });
  });
});

test('a text without a valid form is not sent to any chain', async () => {
  const calls: number[] = [];

  const found = await resolve([naming(1, 'out', calls), naming(2, 'out', calls)], { text: 'what is this?' });

  expect(found.data).toEqual({ type: 'unknown' });
  expect(calls).toEqual([]);
});
