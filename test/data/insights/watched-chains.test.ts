import { describe, expect, test } from 'vitest';
import { BackendError } from '#data/backends/port/backend-error.ts';
import { chain } from '../answer-support.ts';
import { asking, memory } from './memory-support.ts';

type Finding = 'something' | 'nothing' | 'unknown';

/** Chains with observable blocks and changeable results. */
function following(...findings: Finding[]) {
  const states = findings.map(found => ({ found, revision: 1 }));
  const chains = states.map((state, at) => {
    const id = at + 1;
    const has = () => {
      if (state.found === 'unknown') throw new BackendError('not_found', 'unknown_name', 'not known');
      return { blocks: state.found === 'nothing' ? 0 : 1 };
    };
    const { backend } = memory(`m${id}`, {
      chainId: id,
      validity: () => ({ revision: String(state.revision), epoch: 'e' }),
      answer: has,
      insights: {
        lookUpTokens: async () =>
          Array.from({ length: has().blocks }, () => ({ chain_id: id, token_address: '0x' })),
      },
    });
    return chain(id, backend);
  });
  const { insights, blocks } = asking(chains);
  return {
    blocks,
    look: async () =>
      (await insights.lookUpTokens({ path: {}, query: { symbol: ['X'] } }, { headers: {} })).headers,
    /** Adds a block to a chain, optionally with another result. */
    block(id: number, found?: Finding) {
      const state = states[id - 1];
      if (state === undefined) throw new Error('no such chain');
      state.revision += 1;
      state.found = found ?? state.found;
    },
  };
}

describe('an answer is reloaded after a new block of', () => {
  test.each(['nothing', 'unknown'] as const)('an earlier chain that had %s', async found => {
    const { look, block } = following(found, 'something', 'something');

    expect(await look()).toMatchObject({ 'X-Chain-Id': '2', 'X-Backend': 'm2', 'X-Cache': 'MISS' });
    expect(await look()).toMatchObject({ 'X-Chain-Id': '2', 'X-Backend': 'm2', 'X-Cache': 'HIT' });
    block(3);
    expect(await look()).toMatchObject({ 'X-Cache': 'HIT' });
    block(1, 'something');
    expect(await look()).toMatchObject({ 'X-Chain-Id': '1', 'X-Backend': 'm1', 'X-Cache': 'MISS' });
  });

  test('every chain, if no chain had a result', async () => {
    const { look, block } = following('nothing', 'unknown', 'nothing');

    expect(await look()).toMatchObject({ 'X-Chain-Id': '1', 'X-Backend': 'm1', 'X-Cache': 'MISS' });
    expect(await look()).toMatchObject({ 'X-Cache': 'HIT' });
    block(3, 'something');
    expect(await look()).toMatchObject({ 'X-Chain-Id': '3', 'X-Cache': 'MISS' });
    block(2, 'something');
    expect(await look()).toMatchObject({ 'X-Chain-Id': '2', 'X-Cache': 'MISS' });
  });

  test('a chain that did not know a name', async () => {
    const { blocks, block } = following('something', 'unknown');

    expect((await blocks([1, 2])).headers).toMatchObject({ 'X-Chain-Id': '1', 'X-Backend': 'm1' });
    expect((await blocks([1, 2])).headers).toMatchObject({ 'X-Cache': 'HIT' });
    block(2, 'something');
    expect((await blocks([1, 2])).headers).toMatchObject({ 'X-Chain-Id': '1, 2', 'X-Cache': 'MISS' });
  });
});
