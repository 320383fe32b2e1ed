import { type Address, type Hex, keccak256 } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { deriveAccounts } from '../../src/devnet/chain/accounts.ts';
import { httpRpc } from '../../src/devnet/chain/rpc.ts';
import { gasOn } from '../../src/devnet/transaction.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { ChainKind } from './chain-kind.ts';
import { PATIENCE_MS } from './until.ts';

/** A transaction of a funded account, by the account's index. */
export interface Sending {
  readonly from: number;
  readonly to?: Address;
  readonly data?: Hex;
  readonly value?: bigint;
  /** Gwei per gas. A later transaction with the same nonce needs more. */
  readonly tip?: number;
  readonly nonce?: number;
  /** Limit of gas; enough for a transfer or a deployment when absent. */
  readonly gas?: bigint;
}

/** A running chain whose blocks have the time of a clock. */
interface RunningChain extends ChainKind {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly clock: Clock;
}

/** Sends transactions to a chain, mines its blocks and replaces them. */
export function chainActions({ rpcUrl, chainId, clock, engine, hardfork }: RunningChain) {
  const { call } = httpRpc(rpcUrl, { timeoutMs: PATIENCE_MS });
  const keys = deriveAccounts();
  const sent = new Map<Hex, Hex>();

  async function send({ from, nonce, ...content }: Sending) {
    const signer = keys.signer(from);
    const next = nonce ?? Number(await call('eth_getTransactionCount', signer.address, 'pending'));
    const raw = await signedSending(signer, { chainId, hardfork, nonce: next, ...content });
    await call('eth_sendRawTransaction', raw);
    const hash = keccak256(raw);
    sent.set(hash, raw);
    return { hash, raw };
  }

  const inTurn = turns();

  async function newestSecond(): Promise<number> {
    return Number(Object(await call('eth_getBlockByNumber', 'latest', false)).timestamp);
  }

  /**
   * Mines blocks in the time of the clock. Every block gets its time here, because the engine's own clock runs on in real
   * time and is set back when blocks are removed: payments would seem older than their sessions.
   */
  async function mineNext(blocks: number): Promise<void> {
    const newest = await newestSecond();
    const now = secondOf(clock.now());
    // EDR refuses two blocks of the same second.
    const step = engine === 'edr' ? 1 : 0;
    const times = Array.from({ length: blocks }, (_, index) =>
      Math.max(now + step * index, newest + step * (index + 1)),
    );
    // One after the other: anvil executes the calls of a batch at the same time, and a block takes the time of another.
    for (const time of times) await call('evm_mine', time);
  }

  const mine = (blocks = 1) => inTurn(() => mineNext(blocks));

  /** Removes blocks with their transactions and mines others in their place. */
  const replace = (remove: () => Promise<unknown>, blocks: number, raw: readonly Hex[] = []) =>
    inTurn(async () => {
      await remove();
      await call('anvil_dropAllTransactions');
      for (const one of raw) await call('eth_sendRawTransaction', one);
      await mineNext(blocks);
    });

  return {
    rpcUrl,
    call,
    send,
    rawOf(hash: Hex): Hex {
      const raw = sent.get(hash);
      if (raw === undefined) throw new Error(`${hash} was not sent`);
      return raw;
    },
    mine,
    mineAt: (timeMs: number) => inTurn(async () => void (await call('evm_mine', secondOf(timeMs)))),
    head: async () => Number(await call('eth_blockNumber')),
    newestTime: async () => 1000 * (await newestSecond()),
    snapshot: () => call('evm_snapshot'),
    fork: (snapshot: unknown, blocks: number, raw?: readonly Hex[]) =>
      replace(() => call('evm_revert', snapshot), blocks, raw),
    replaceLast: (blocks: number) => replace(() => call('anvil_rollback', blocks), blocks),
  };
}

/** A signed transaction, raw. Its limit of gas is enough for a transfer or a deployment when absent. */
export function signedSending(
  signer: PrivateKeyAccount,
  {
    chainId,
    hardfork,
    nonce,
    to,
    data,
    value = 0n,
    tip = 2,
    gas = to === undefined ? 3_000_000n : 90_000n,
  }: Omit<Sending, 'from'> & Pick<RunningChain, 'chainId' | 'hardfork'> & { readonly nonce: number },
): Promise<Hex> {
  const fee = BigInt(tip) * 10n ** 9n;
  return signer.signTransaction({
    type: 'eip1559',
    chainId,
    nonce,
    gas: gasOn(hardfork, gas),
    maxFeePerGas: 10n ** 11n + fee,
    maxPriorityFeePerGas: fee,
    value,
    ...(to === undefined ? {} : { to }),
    ...(data === undefined ? {} : { data }),
  });
}

/** Runs pieces of work one after the other, in the order in which they are given. */
export function turns(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return work => {
    const own = last.then(work);
    last = own.catch(() => undefined);
    return own;
  };
}

export function secondOf(ms: number): number {
  return Math.floor(ms / 1000);
}
