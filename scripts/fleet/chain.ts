import { type FaultyNode, faultyNode } from '../../test/support/faulty-node.ts';
import { mineEvery, startPaymentChain, type TestPaymentChain } from '../../test/support/payment-chain.ts';

/** A chain with a block every second, and the node through which the fleet reads it. */
export interface FleetChain {
  readonly id: number;
  readonly chain: TestPaymentChain;
  /** Proxy of the chain's node that can hang. */
  readonly node: FaultyNode;
  /** Calls a method of the chain directly, not through `node`. */
  ask(method: string, ...params: readonly unknown[]): Promise<unknown>;
}

const BLOCK_MS = 1_000;
const FIRST_BLOCKS = 40;

export async function startFleetChain(id: number, stack: AsyncDisposableStack): Promise<FleetChain> {
  const chain = stack.use(await startPaymentChain(id));
  const node = stack.use(await faultyNode(chain.rpcUrl));
  await chain.mine(FIRST_BLOCKS);
  stack.use(mineEvery(BLOCK_MS, () => chain.mine()));
  return { id, chain, node, ask: chain.call };
}
