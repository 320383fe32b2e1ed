import { numberToHex } from 'viem';
import { expect, test } from 'vitest';
import { createLogger } from '#lib/logger.ts';
import { createChainClient } from '#node/client.ts';
import { cursorStore } from '#payments/store/cursor-store.ts';
import { chainWatcher } from '#payments/watcher/chain-watcher.ts';
import { faultyNode } from '../../lab/faulty-node.ts';
import { startPaymentChain, type TestPaymentChain } from '../../lab/payment-chain.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { eachDatabase } from '../../support/databases.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { BLOCKS_TO_SETTLE, paymentChain, seals, shop } from './setting.ts';

const never = new AbortController().signal;

eachDatabase('a chain and its watcher', databases => {
  async function begin(chain: TestPaymentChain<ManualClock>) {
    const { clock } = chain;
    const watched = paymentChain(chain);
    const ours = await shop(await databases.create('payments'), clock, watched);
    const said: string[] = [];
    const log = createLogger({ level: 'warn', destination: { write: line => void said.push(line) } });
    return {
      ...ours,
      said,
      watcherThrough(rpcUrl: string) {
        const client = createChainClient({
          id: chain.chainId,
          rpcUrls: [rpcUrl],
          timeoutMs: PATIENCE_MS,
          log,
        });
        const watcher = chainWatcher({ chain: watched, client, db: ours.db, seals, clock, log });
        return async () => {
          clock.advance(20_000);
          await watcher.runOnce(never);
        };
      },
      [Symbol.asyncDispose]: ours.close,
    };
  }

  test('a restarted chain is scanned from its beginning, and the log says so', async () => {
    await using before = await startPaymentChain({ clock: manualClock(Date.now()) });
    await using ours = await begin(before);
    await before.mine(100);
    await ours.watcherThrough(before.rpcUrl)();
    const session = await ours.open();

    // The first block differs by its time, because the clock has advanced.
    await using after = await startPaymentChain({ clock: before.clock });
    await after.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
    await after.mine(BLOCKS_TO_SETTLE);
    const round = ours.watcherThrough(after.rpcUrl);
    await round();
    await round();

    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
    expect(ours.said.join()).toContain('the chain was restarted and is scanned from its beginning');
    expect(await cursorStore(ours.db).find(after.chainId)).toMatchObject({ blockNumber: await after.head() });
  });

  test('a node that stays behind the cursor is logged once per minute, and nothing is lost', async () => {
    await using chain = await startPaymentChain({ clock: manualClock(Date.now()) });
    await using ours = await begin(chain);
    await using node = await faultyNode(chain.rpcUrl);
    await chain.mine(40);
    const round = ours.watcherThrough(node.url);
    await round();
    const cursor = await cursorStore(ours.db).find(chain.chainId);

    const behind = await chain.call('eth_getBlockByNumber', numberToHex((await chain.head()) - 30), false);
    node.tell(({ method, params }) =>
      method === 'eth_getBlockByNumber' && params?.[0] === 'latest' ? behind : undefined,
    );
    for (let index = 0; index < 4; index++) await round();

    expect(ours.said.filter(line => line.includes('the node is behind'))).toHaveLength(2);
    expect(await cursorStore(ours.db).find(chain.chainId)).toMatchObject({
      blockNumber: cursor?.blockNumber,
    });
  });
});
