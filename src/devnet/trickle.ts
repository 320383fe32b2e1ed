import { numberToHex } from 'viem';
import type { Clock } from '../lib/clock.ts';
import { type Logger, logAndGoOn } from '../lib/logger.ts';
import type { Accounts } from './chain/accounts.ts';
import type { JsonRpcCall, Rpc } from './chain/rpc.ts';
import { setBaseFee } from './fill.ts';
import type { Plan } from './plan.ts';
import type { TransactionWriter } from './transaction.ts';

/**
 * Adds one block every `intervalMs`, each with one to three transactions, until the signal aborts; a block that
 * fails is logged and the next one tries again. Every block reads the state of the chain first, so another client may
 * mine or roll back blocks in between.
 */
export async function trickle({
  plan,
  rpc,
  write,
  accounts,
  intervalMs,
  clock,
  log,
  signal,
}: {
  plan: Plan;
  rpc: Rpc;
  write: TransactionWriter;
  accounts: Accounts;
  intervalMs: number;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
}): Promise<void> {
  let agreed: bigint | undefined;
  while (!signal.aborted) {
    await clock.sleep(intervalMs, signal).catch(() => undefined);
    if (signal.aborted) return;
    await addBlock().catch(error => {
      if (!signal.aborted) logAndGoOn(log, 'adding a block to an embedded chain')(error);
    });
  }

  async function addBlock(): Promise<void> {
    const baseFeePerGas = agreed ?? (await agreedBaseFee());
    const actions = plan.more(plan.random.integer(1, 3));
    const senders = [...new Set(actions.map(({ from }) => from))];
    const [latest, ...counts] = await rpc.batch([
      { method: 'eth_getBlockByNumber', params: ['latest', false] },
      ...senders.map(from => ({
        method: 'eth_getTransactionCount',
        params: [accounts.signer(from).address, 'pending'],
      })),
    ]);
    const nonces = new Map(senders.map((from, position) => [from, Number(counts[position])]));
    const calls: JsonRpcCall[] = [];
    for (const action of actions) {
      const nonce = nonces.get(action.from) ?? 0;
      nonces.set(action.from, nonce + 1);
      calls.push(await write(action, nonce, { baseFeePerGas, random: plan.random }));
    }
    const sent = await rpc.batch(calls).then(
      () => undefined,
      (error: unknown) => error,
    );
    // The block is mined anyway: a refused transaction must not stop the clock of the chain.
    const timestamp = Math.max(Math.floor(clock.now() / 1000), timestampOf(latest) + 1);
    await rpc.call('evm_mine', numberToHex(timestamp));
    agreed = await agreedBaseFee();
    if (sent !== undefined) throw sent;
  }

  /**
   * Sets the next block's base fee, never above the gas price that the node suggests. A transaction of another client
   * at that price is then included; one below the base fee would be dropped silently.
   */
  async function agreedBaseFee(): Promise<bigint> {
    const named = BigInt(String(await rpc.call('eth_gasPrice')));
    const walked = plan.nextBaseFee();
    const fee = walked < named ? walked : named;
    const { method, params } = setBaseFee(fee);
    await rpc.call(method, ...params);
    return fee;
  }
}

function timestampOf(block: unknown): number {
  if (typeof block === 'object' && block !== null && 'timestamp' in block) return Number(block.timestamp);
  throw new TypeError('the node answered without a latest block');
}
