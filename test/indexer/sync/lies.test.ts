import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createChainClient } from '#node/client.ts';
import { eachDatabase } from '#test/support/databases.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { type Lie, liesAbout } from '../lies.ts';
import { startNodeProxy } from '../node-proxy.ts';
import {
  CHAIN_ID,
  canonicalContent,
  clientOf,
  log,
  openTestIndex,
  startTestChain,
  type TestChain,
} from '../support.ts';

/** Block about which nodes lie: four transactions, three of them with one log each. */
const BLOCK = 2;
const HEAD = 3;
const LIES = liesAbout({ transactions: 4, logs: [0, 1, 3] });

let chain: TestChain;
let expected: Awaited<ReturnType<typeof canonicalContent>>;

beforeAll(async () => {
  chain = await startTestChain();
  const token = await chain.deploy('StableToken', ['Dollar', 'USD']);
  await chain.mine();
  const [owner, other] = [chain.accounts.signer(0).address, chain.accounts.signer(2).address];
  await chain.send(0, token.call('mint', [owner, 1_000n]));
  await chain.send(0, token.call('transfer', [other, 7n]));
  await chain.send(1, { to: other, value: 5n });
  await chain.send(0, token.call('transfer', [other, 8n]));
  await chain.mine();
  await chain.send(0, token.call('transfer', [other, 9n]));
  await chain.mine();
  const file = `${chain.folder}/plain.sqlite`;
  const index = await openTestIndex({ file, client: clientOf(chain.rpcUrl) });
  await index.runOnce().finally(() => index.stop());
  expected = await canonicalContent(file);
});

afterAll(() => chain.stop());

eachDatabase('an index whose node lies by', databases => {
  async function openOver(...rpcUrls: string[]) {
    const database = await databases.create('index');
    const client = createChainClient({ id: CHAIN_ID, rpcUrls, timeoutMs: PATIENCE_MS, log });
    const index = await openTestIndex({ database, client });
    onTestFinished(() => index.stop());
    return { database, index };
  }

  async function startLiar(lie: Lie) {
    const liar = await startNodeProxy(chain.rpcUrl, {
      change: (method, result) => lie.change(BLOCK, { method, result }),
    });
    onTestFinished(() => liar.stop());
    return liar.rpcUrl;
  }

  test.for(LIES.map(lie => [lie.name, lie] as const))(
    '%s stores no lie as proven, and waits or says that it is not proven',
    async ([, lie]) => {
      const { index } = await openOver(await startLiar(lie));

      await index.runOnce().catch(() => undefined);

      const stored = await index.reader.blockByNumberOrHash(BLOCK);
      if (lie.isCertain) {
        expect(stored).toBeNull();
        expect(index.proofs.status().contradicting).toMatchObject([{ node: '127.0.0.1', block: BLOCK }]);
        expect(index.warning()).toMatch(/^the index of chain 31337 waits at block 2: The node contradicts/);
      } else {
        expect(stored?.isProven ?? false).toBe(false);
        expect(index.proofs.status().contradicting).toEqual([]);
      }
    },
  );

  test.for(LIES.map(lie => [lie.name, lie] as const))(
    '%s has all blocks proven by another node',
    async ([, lie]) => {
      const honest = chain.rpcUrl.replace('127.0.0.1', 'localhost');
      const { database, index } = await openOver(await startLiar(lie), honest);

      await index.runOnce();

      expect(await canonicalContent(database)).toEqual(expected);
      expect(index.proofs.status()).toMatchObject({
        provenShare: 1,
        contradicting: lie.isNamed ? [{ node: '127.0.0.1', block: BLOCK }] : [],
      });
      expect(index.status().head).toBe(HEAD);
      expect(index.warning()).toBeUndefined();
    },
  );
});
