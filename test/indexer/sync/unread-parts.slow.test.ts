import { join } from 'node:path';
import fc from 'fast-check';
import { type Hash, type Hex, numberToHex } from 'viem';
import { expect, onTestFinished } from 'vitest';
import { eachDatabase } from '../../support/databases.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { test } from '../../support/served-devnet.ts';
import { countedAgain, keptCounts } from '../kept-counts.ts';
import { startNodeProxy } from '../node-proxy.ts';
import { canonicalContent, clientOf, openTestIndex, temporaryFolder } from '../support.ts';

/** Time after which no further run begins, in milliseconds. */
const LONGEST_MS = 2_000;
/** Longest pause before missing parts are asked for again. */
const DAY_MS = 86_400_000;

const METHODS = {
  receipts: ['eth_getBlockReceipts', 'eth_getTransactionReceipt'],
  traces: ['trace_block', 'trace_transaction'],
} as const;
type Part = keyof typeof METHODS;

interface Placed {
  readonly hash: Hash;
  readonly block: Hex;
}

/** Transactions of a chain, except those of the first block that has some. It shows which methods the node has. */
async function laterTransactions(rpcUrl: string): Promise<{ head: number; transactions: Placed[] }> {
  const { request, public: chain } = clientOf(rpcUrl);
  const head = Number(await chain.getBlockNumber());
  const blocks = await Promise.all(
    Array.from({ length: head + 1 }, async (_, number) => {
      const block = await request({ method: 'eth_getBlockByNumber', params: [numberToHex(number), false] });
      return (block?.transactions ?? []).flatMap(hash =>
        typeof hash === 'string' ? [{ hash, block: numberToHex(number) }] : [],
      );
    }),
  );
  return {
    head,
    transactions: blocks
      .filter(found => found.length > 0)
      .slice(1)
      .flat(),
  };
}

/** Parts that a node refuses, of the whole block and of the transaction. The choices repeat. */
function refusals(transactions: readonly Placed[], choices: readonly (Part | null)[]) {
  const refused = transactions.flatMap((transaction, at) => {
    const part = choices[at % choices.length] ?? null;
    return part === null ? [] : [{ ...transaction, methods: METHODS[part] satisfies readonly string[] }];
  });
  const keys = new Set(
    refused.flatMap(({ hash, block, methods: [ofBlock, ofTransaction] }) => [
      `${ofBlock} ${block}`,
      `${ofTransaction} ${hash}`,
    ]),
  );
  return {
    blocks: new Set(refused.map(({ block }) => block)).size,
    isRefused: (method: string, asked: unknown) => keys.has(`${method} ${asked}`),
  };
}

eachDatabase('an index of a chain whose node refuses parts of blocks', databases => {
  test('reaches the head without them, and ends like any other once they arrive', async ({ chain }) => {
    const { folder, remove } = await temporaryFolder();
    onTestFinished(remove);
    const freshFile = join(folder, 'fresh.sqlite');
    const fresh = await openTestIndex({ file: freshFile, client: clientOf(chain.rpcUrl) });
    await fresh.runOnce();
    await fresh.stop();
    const expected = await canonicalContent(freshFile);
    const { head: newest, transactions } = await laterTransactions(chain.rpcUrl);
    const part = fc.constantFrom<Part | null>(null, null, 'receipts', 'traces');
    let run = 0;
    const startedAt = performance.now();

    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 3, maxLength: 40 }), async chosen => {
        if (run > 0 && performance.now() - startedAt > LONGEST_MS) return;
        run += 1;
        const { blocks, isRefused } = refusals(transactions, chosen);
        let isPoisoned = true;
        const proxy = await startNodeProxy(chain.rpcUrl, {
          refuses: ({ method, params }) => isPoisoned && isRefused(method, params?.[0]),
        });
        const clock = manualClock();
        const database = await databases.create('index');
        const index = await openTestIndex({
          database,
          client: clientOf(proxy.rpcUrl),
          clock,
        });
        try {
          await index.runOnce();
          const { head, unreadBlocks } = index.status();
          isPoisoned = false;
          clock.advance(DAY_MS);
          let filled = 0;
          while ((await index.refillOnce()) === 1) filled += 1;
          await index.runOnce();

          expect({ head, unreadBlocks, filled }).toEqual({
            head: newest,
            unreadBlocks: blocks,
            filled: blocks,
          });
          expect(index.status()).toMatchObject({ complete: true, unreadBlocks: 0 });
        } finally {
          await index.stop();
          await proxy.stop();
        }
        expect(await canonicalContent(database)).toEqual(expected);
        expect(await keptCounts(database)).toEqual(await countedAgain(database));
      }),
      { numRuns: 8 },
    );
  });
});
