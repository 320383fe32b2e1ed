import { systemClock } from '#lib/clock.ts';
import { type FaultyNode, faultyNode } from '../../test/lab/faulty-node.ts';
import { mineEvery, startPaymentChain, type TestPaymentChain } from '../../test/lab/payment-chain.ts';
import type { ConfiguredChain } from './configuration.ts';

/** A chain that mines regularly, as the fleet reads it. */
export interface FleetChain {
  readonly id: number;
  readonly chain: TestPaymentChain;
  /** Its part of a configuration file. */
  readonly configured: ConfiguredChain;
  /** Calls a method of the chain directly, not through the fleet's node. */
  ask(method: string, ...params: readonly unknown[]): Promise<unknown>;
}

/** A chain that the fleet reads through a proxy of its node. The proxy can hang. */
export interface InterruptedChain extends FleetChain {
  readonly node: FaultyNode;
}

/** Time between blocks of the fleet's chains. */
export const BLOCK_MS = 1_000;
const FIRST_BLOCKS = 40;

export async function startInterruptedChain(
  id: number,
  stack: AsyncDisposableStack,
): Promise<InterruptedChain> {
  const chain = stack.use(await startPaymentChain({ clock: systemClock, chainId: id }));
  const node = stack.use(await faultyNode(chain.rpcUrl));
  await keepMining(chain, stack, BLOCK_MS);
  const configured = { id, rpcUrl: node.url, tokens: [chain.token] };
  return { id, chain, node, configured, ask: chain.call };
}

/** Starts a chain that its readers reach directly. */
export async function startPlainChain(
  { id, blockMs }: { readonly id: number; readonly blockMs: number },
  stack: AsyncDisposableStack,
): Promise<FleetChain> {
  const chain = stack.use(await startPaymentChain({ clock: systemClock, chainId: id }));
  await keepMining(chain, stack, blockMs);
  const configured = { id, rpcUrl: chain.rpcUrl, tokens: [chain.token] };
  return { id, chain, configured, ask: chain.call };
}

/** Mines the first blocks, and then one every `blockMs`, until the stack is disposed. */
export async function keepMining(
  chain: Pick<TestPaymentChain, 'mine'>,
  stack: AsyncDisposableStack,
  blockMs: number,
): Promise<void> {
  await chain.mine(FIRST_BLOCKS);
  stack.use(mineEvery(blockMs, () => chain.mine()));
}
