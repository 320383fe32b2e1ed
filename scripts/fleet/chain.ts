import { setTimeout as delay } from 'node:timers/promises';
import { type FaultyNode, faultyNode } from '../../test/support/faulty-node.ts';
import { startPaymentChain, type TestPaymentChain } from '../../test/support/payment-chain.ts';

/** A chain that makes a block every second, and the node through which the fleet sees it. */
export interface FleetChain {
  readonly chain: TestPaymentChain;
  /** Passes everything on until it is told to hang. */
  readonly node: FaultyNode;
  /** A quantity or a record of the chain itself, past that node. */
  ask(method: string, ...params: readonly unknown[]): Promise<unknown>;
}

const BLOCK_MS = 1_000;
const FIRST_BLOCKS = 40;

export async function startFleetChain(stack: AsyncDisposableStack): Promise<FleetChain> {
  const chain = stack.use(await startPaymentChain());
  const node = stack.use(await faultyNode(chain.rpcUrl));
  await chain.mine(FIRST_BLOCKS);
  const ended = new AbortController();
  const mining = mine();
  stack.defer(async () => {
    ended.abort();
    await mining;
  });
  return { chain, node, ask: chain.call };

  async function mine(): Promise<void> {
    while (!ended.signal.aborted) {
      await chain.mine();
      await delay(BLOCK_MS, undefined, { signal: ended.signal }).catch(() => {});
    }
  }
}
