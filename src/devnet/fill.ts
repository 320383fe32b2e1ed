import { isDeepStrictEqual } from 'node:util';
import { type Address, numberToHex } from 'viem';
import { CURRENT_FACTORY } from '#deposits/deposit-factory.ts';
import type { JsonRpcCall, Rpc } from './chain/rpc.ts';
import type { Plan, PlannedBlock } from './plan.ts';
import type { TransactionWriter } from './transaction.ts';

/** Storage of a factory in which no sweep is in progress, as its constructor leaves it. */
const [IDLE_SLOT, IDLE] = [numberToHex(0), numberToHex(1, { size: 32 })];

/** Size of a batch that the node processes without interleaving it with others. */
const SENDS_A_BATCH = 24;

/**
 * Mines the blocks of a plan, one after the other, on a node that does not mine by itself.
 * Calls `onBlock` with the number of every block.
 * @throws Error when the node refuses a transaction or does not take one into its block; the signal's reason.
 */
export async function fill({
  plan,
  rpc,
  write,
  blobSender,
  signal,
  onBlock,
}: {
  plan: Plan;
  rpc: Rpc;
  write: TransactionWriter;
  blobSender: Address;
  signal: AbortSignal;
  onBlock: (number: number) => void;
}): Promise<void> {
  const nonces = new Map<number, number>();
  let mined = 0;
  const { address: factory, deployedCode } = CURRENT_FACTORY;
  // No transaction deploys the factory, so that the activity of a seed stays as it is with every version of it.
  // The node does not verify the blobs of an account it impersonates, and so need not load a trusted setup,
  // which would take it more than two seconds. The blobs are valid, and so are the signatures.
  await rpc.batch([
    { method: 'anvil_setLoggingEnabled', params: [false] },
    { method: 'anvil_setCoinbase', params: [plan.feeRecipient] },
    { method: 'anvil_impersonateAccount', params: [blobSender] },
    { method: 'anvil_setCode', params: [factory, deployedCode] },
    { method: 'anvil_setStorageAt', params: [factory, IDLE_SLOT, IDLE] },
  ]);
  for (const block of plan.blocks()) {
    signal.throwIfAborted();
    await mineBlock(block);
    mined += 1;
    onBlock(mined);
  }
  await assertComplete();

  async function mineBlock({ time, baseFeePerGas, actions }: PlannedBlock): Promise<void> {
    const calls = [setBaseFee(baseFeePerGas)];
    for (const action of actions) {
      const nonce = nonces.get(action.from) ?? 0;
      nonces.set(action.from, nonce + 1);
      calls.push(await write(action, nonce, { baseFeePerGas, random: plan.random }));
    }
    for (let at = 0; at < calls.length; at += SENDS_A_BATCH) {
      await rpc.batch(calls.slice(at, at + SENDS_A_BATCH));
    }
    // In a separate request: nodes do not guarantee the order of calls within a batch.
    await rpc.call('evm_mine', time);
  }

  async function assertComplete(): Promise<void> {
    const [number, pool] = await rpc.batch([
      { method: 'eth_blockNumber', params: [] },
      { method: 'txpool_status', params: [] },
    ]);
    if (number === numberToHex(mined) && isDeepStrictEqual(pool, { pending: '0x0', queued: '0x0' })) return;
    throw new Error(`block ${String(number)} instead of ${mined}; left in the pool: ${JSON.stringify(pool)}`);
  }
}

/** Call that sets the base fee of the next block, in wei per gas. */
export function setBaseFee(baseFeePerGas: bigint): JsonRpcCall {
  return { method: 'anvil_setNextBlockBaseFeePerGas', params: [numberToHex(baseFeePerGas)] };
}
