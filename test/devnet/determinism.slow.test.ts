import { expect, test } from 'vitest';
import type { EngineName } from '../../src/devnet/chain/engine.ts';
import { httpRpc } from '../../src/devnet/chain/rpc.ts';
import { startTestDevnet, TEST_END_TIME } from '../lab/devnet.ts';
import { ENGINES } from '../support/engines.ts';

test.for(ENGINES)(
  'on %s the same seed and end time give the same head hashes, which differ between chains',
  async engine => {
    const [first, second] = await Promise.all([heads({ engine }), heads({ engine })]);

    expect(second).toEqual(first);
    expect(new Set(first).size).toBe(2);
  },
);

test('another seed or another end time gives other head hashes', async () => {
  const [usual, reseeded, later] = await Promise.all([
    heads({}),
    heads({ seed: 2 }),
    heads({ endTime: TEST_END_TIME + 60_000 }),
  ]);

  expect(new Set([...usual, ...reseeded, ...later]).size).toBe(6);
});

async function heads(options: { seed?: number; endTime?: number; engine?: EngineName }): Promise<unknown[]> {
  await using devnet = await startTestDevnet({ chains: 2, ...options });
  return await Promise.all(
    devnet.chains.map(async ({ rpcUrl }) => {
      const head = await httpRpc(rpcUrl).call('eth_getBlockByNumber', 'latest', false);
      return typeof head === 'object' && head !== null && 'hash' in head ? head.hash : undefined;
    }),
  );
}
