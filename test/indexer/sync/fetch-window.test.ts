import { numberToHex } from 'viem';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startNodeProxy } from '../node-proxy.ts';
import { clientOf, openTestIndex, startTestChain, type TestChain, temporaryFolder } from '../support.ts';

const BLOCKS = 40;

let chain: TestChain;

beforeAll(async () => {
  chain = await startTestChain();
  for (let count = 0; count < BLOCKS; count += 1) {
    await chain.send(0, { to: chain.accounts.signer(1).address, value: 1n });
    await chain.mine();
  }
});

afterAll(() => chain.stop());

/**
 * Longest distance between a block whose receipts were requested and the newest block of the index at that time, if
 * every block says that it used this gas.
 */
async function readAhead(gas: number): Promise<number> {
  let longest = 0;
  let head = () => -1;
  const proxy = await startNodeProxy(chain.rpcUrl, {
    refuses({ method, params }) {
      if (method === 'eth_getBlockReceipts') longest = Math.max(longest, Number(params?.[0]) - head());
      return false;
    },
    change: (method, result) =>
      method === 'eth_getBlockByNumber' && result !== null
        ? { ...Object(result), gasUsed: numberToHex(gas) }
        : result,
  });
  onTestFinished(() => proxy.stop());
  const { folder, remove } = await temporaryFolder();
  onTestFinished(remove);
  const index = await openTestIndex({ file: `${folder}/index.sqlite`, client: clientOf(proxy.rpcUrl) });
  onTestFinished(() => index.stop());
  head = () => index.status().head ?? -1;
  expect(await index.runOnce()).toBe(BLOCKS + 1);
  return longest;
}

test('full blocks are read ahead by gas, and small ones by number', async () => {
  const [small, full, tooFull] = [
    await readAhead(21_000),
    await readAhead(30_000_000),
    await readAhead(500_000_000),
  ];

  expect(small).toBeGreaterThan(4);
  expect(full).toBeLessThanOrEqual(4);
  expect(tooFull).toBe(1);
});
