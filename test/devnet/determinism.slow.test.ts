import { expect, test } from 'vitest';
import { httpRpc } from '../../src/devnet/chain/rpc.ts';
import { CHAIN_KINDS, type ChainKind } from '../lab/chain-kind.ts';
import { startTestDevnet, TEST_END_TIME } from '../lab/devnet.ts';

test.for(CHAIN_KINDS)(
  'on $engine with $hardfork the same seed and end time give the same head hashes, which differ between chains',
  async kind => {
    const [first, second] = await Promise.all([heads(kind), heads(kind)]);

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

async function heads(options: { seed?: number; endTime?: number } & Partial<ChainKind>): Promise<unknown[]> {
  await using devnet = await startTestDevnet({ chains: 2, ...options });
  return await Promise.all(
    devnet.chains.map(async ({ rpcUrl }) => {
      const head = await httpRpc(rpcUrl).call('eth_getBlockByNumber', 'latest', false);
      return typeof head === 'object' && head !== null && 'hash' in head ? head.hash : undefined;
    }),
  );
}
