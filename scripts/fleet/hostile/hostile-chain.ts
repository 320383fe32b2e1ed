import { systemClock } from '#lib/clock.ts';
import { turns } from '../../../test/lab/chain-actions.ts';
import { list, record, text } from '../../../test/lab/json.ts';
import { startPaymentChain, type TestPaymentChain } from '../../../test/lab/payment-chain.ts';
import { type FleetChain, keepMining } from '../chain.ts';
import { deployStranger, type Stranger } from './hostile-contracts.ts';

/** A chain on which a stranger has contracts. Honest payments and the stranger's work take turns. */
export interface HostileChain extends FleetChain, Stranger {
  /** Runs work during which no other block is mined and no payment is sent. The work mines by `inner`. */
  alone<Result>(work: (inner: TestPaymentChain) => Promise<Result>): Promise<Result>;
  /** Replaces the latest blocks by others, with the same transactions in the next block. */
  reorganize(depth: number): Promise<void>;
}

interface HostileChainOptions {
  readonly id: number;
  /** Addresses to which the stranger sends the readers of a name. */
  readonly urls: readonly string[];
  readonly blockMs: number;
  /** See `ConfiguredChain`. */
  readonly maxAnswer?: string | undefined;
}

export async function startHostileChain(
  { id, urls, blockMs, maxAnswer }: HostileChainOptions,
  stack: AsyncDisposableStack,
): Promise<HostileChain> {
  const inner = stack.use(await startPaymentChain({ clock: systemClock, chainId: id }));
  const stranger = await deployStranger(inner, urls);
  const inTurn = turns();
  const chain: TestPaymentChain = {
    ...inner,
    send: sending => inTurn(() => inner.send(sending)),
    pay: payment => inTurn(() => inner.pay(payment)),
    mine: blocks => inTurn(() => inner.mine(blocks)),
  };
  await keepMining(chain, stack, blockMs);
  return {
    ...stranger,
    id,
    chain,
    configured: {
      id,
      rpcUrl: inner.rpcUrl,
      tokens: [inner.token, ...stranger.tokens.values()],
      registry: stranger.registry,
      maxAnswer,
    },
    ask: inner.call,
    alone: work => inTurn(() => work(inner)),
    reorganize: depth =>
      inTurn(async () => {
        // Anvil drops a transaction of its pool that is behind one of a removed block.
        await inner.mine();
        const transactions = await transactionsOfLast(inner, depth);
        await inner.replaceLast(depth);
        for (const { raw } of transactions) await inner.call('eth_sendRawTransaction', raw);
        await inner.mine();
        for (const { hash } of transactions) {
          const receipt = await inner.call('eth_getTransactionReceipt', hash);
          if (receipt === null) throw new Error(`the chain lost ${hash} in a reorganisation`);
        }
      }),
  };
}

/** The signed transactions of the latest blocks in their order. */
async function transactionsOfLast({ call, head }: TestPaymentChain, blocks: number) {
  const last = await head();
  const found: { hash: string; raw: unknown }[] = [];
  for (let number = last - blocks + 1; number <= last; number += 1) {
    const block = record(await call('eth_getBlockByNumber', `0x${number.toString(16)}`, false));
    for (const hash of list(block.transactions).map(text))
      found.push({ hash, raw: await call('eth_getRawTransactionByHash', hash) });
  }
  return found;
}
