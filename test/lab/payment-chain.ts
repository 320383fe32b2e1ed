import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Address, encodeDeployData, encodeFunctionData, type Hex, parseAbi } from 'viem';
import { fungibleAbi, postcardsAbi } from '../../src/devnet/activity/abis.ts';
import { creationCode } from '../../src/devnet/activity/artifacts.ts';
import { deriveAccounts } from '../../src/devnet/chain/accounts.ts';
import { startChainProcess } from '../../src/devnet/chain/chain-process.ts';
import { findEngine } from '../../src/devnet/chain/engine.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { chainActions, type Sending, secondOf } from './chain-actions.ts';
import { type ChainKind, chainKind } from './chain-kind.ts';

/** A chain that mines on request, in the time of its clock. `await using` ends it. */
export interface TestPaymentChain<C extends Clock = Clock> extends AsyncDisposable {
  readonly chainId: number;
  /** Time of the blocks, and of every shop and program next to the chain. */
  readonly clock: C;
  readonly rpcUrl: string;
  /** An ERC-20 token with a large balance of every account, and a look-alike. */
  readonly token: Address;
  readonly lookalike: Address;
  /** ERC-721. */
  readonly postcards: Address;
  /** Lower case. */
  readonly accounts: readonly Address[];
  call(method: string, ...params: readonly unknown[]): Promise<unknown>;
  /** Signs and sends a transaction to the pool; returns it raw, with its hash. */
  send(sending: Sending): Promise<{ hash: Hex; raw: Hex }>;
  /** A transaction that was sent, as it was signed. @throws when it was not sent by `send` or `pay`. */
  rawOf(hash: Hex): Hex;
  /** Sends an ERC-20 transfer to the pool; returns its hash. */
  pay(payment: {
    from: number;
    to: string;
    amount: bigint;
    token?: Address;
    tip?: number;
    nonce?: number;
  }): Promise<Hex>;
  mine(blocks?: number): Promise<void>;
  /** Mines one block with this time in milliseconds, as a chain whose time differs from the clock. */
  mineAt(timeMs: number): Promise<void>;
  head(): Promise<number>;
  /** Time of the newest block in milliseconds. */
  newestTime(): Promise<number>;
  /** Reverts to a snapshot and mines other blocks in place of those after it. */
  fork(snapshot: unknown, blocks: number, raw?: readonly Hex[]): Promise<void>;
  snapshot(): Promise<unknown>;
  /** Replaces the latest blocks by empty ones. */
  replaceLast(blocks: number): Promise<void>;
  stop(): Promise<void>;
}

const FUNDED = 20;

interface PaymentChainOptions<C extends Clock> extends Partial<ChainKind> {
  readonly clock: C;
  readonly chainId?: number;
}

export async function startPaymentChain<C extends Clock>({
  clock,
  chainId = 31_337,
  engine = chainKind.engine,
  hardfork = chainKind.hardfork,
}: PaymentChainOptions<C>): Promise<TestPaymentChain<C>> {
  const folder = await mkdtemp(join(tmpdir(), 'payment-chain-'));
  const chain = await startChainProcess({
    engine: findEngine({ engine, hardfork }),
    hardfork,
    chainId,
    folder,
    genesisTime: secondOf(clock.now()),
    isRunFolderDisposable: true,
  });
  const actions = chainActions({ rpcUrl: chain.rpcUrl, chainId, clock, engine, hardfork });
  const { call, send, mine } = actions;
  const keys = deriveAccounts();

  async function deploy(artifact: string, args: readonly unknown[]): Promise<Address> {
    const abi = parseAbi(['constructor(string name, string symbol)']);
    const data = encodeDeployData({
      abi,
      args: [`${args[0]}`, `${args[1]}`],
      bytecode: creationCode(artifact),
    });
    const { hash } = await send({ from: 0, data });
    await mine();
    const receipt = await call('eth_getTransactionReceipt', hash);
    if (!hasAddress(receipt)) throw new Error(`${artifact} was not deployed`);
    return receipt.contractAddress;
  }

  const token = await deploy('StableToken', ['US Dollar Sample', 'USDS']);
  const lookalike = await deploy('StableToken', ['US Dollar Sample', 'USDS']);
  const postcards = await deploy('Postcards', ['Postcards', 'POST']);
  for (const account of keys.addresses.slice(0, FUNDED)) {
    for (const contract of [token, lookalike]) {
      const data = encodeFunctionData({
        abi: fungibleAbi,
        functionName: 'mint',
        args: [account, 10n ** 15n],
      });
      await send({ from: 0, to: contract, data });
    }
  }
  await mine();

  async function stop(): Promise<void> {
    await chain.stop();
    await rm(folder, { recursive: true, force: true });
  }

  return {
    chainId,
    clock,
    token,
    lookalike,
    postcards,
    accounts: keys.addresses.map(lowerCase),
    ...actions,
    async pay({ from, to, amount, token: contract = token, ...rest }) {
      const args = [addressOf(to), amount] as const;
      const data = encodeFunctionData({ abi: fungibleAbi, functionName: 'transfer', args });
      return (await send({ from, to: contract, data, ...rest })).hash;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Mines at once and then regularly in real time. `await using` ends it. */
export function mineEvery(ms: number, mine: () => Promise<void>): AsyncDisposable {
  const ended = new AbortController();
  const mining = mineUntilEnd();
  return {
    async [Symbol.asyncDispose]() {
      ended.abort();
      await mining;
    },
  };

  async function mineUntilEnd(): Promise<void> {
    while (!ended.signal.aborted) {
      await mine();
      await delay(ms, undefined, { signal: ended.signal }).catch(() => {});
    }
  }
}

/** Mints one more NFT: a `Transfer` with four topics. */
export function mintPostcard(chain: TestPaymentChain, to: string) {
  const data = encodeFunctionData({ abi: postcardsAbi, functionName: 'mint', args: [addressOf(to)] });
  return chain.send({ from: 0, to: chain.postcards, data });
}

export function addressOf(text: string): Address {
  return `0x${text.slice(2)}`;
}

function lowerCase(address: Address): Address {
  return addressOf(address.toLowerCase());
}

function hasAddress(receipt: unknown): receipt is { contractAddress: Address } {
  return typeof receipt === 'object' && receipt !== null && 'contractAddress' in receipt;
}
