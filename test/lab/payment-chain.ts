import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  parseAbi,
} from 'viem';
import { fungibleAbi, postcardsAbi } from '../../src/devnet/activity/abis.ts';
import { creationCode } from '../../src/devnet/activity/artifacts.ts';
import { deriveAccounts } from '../../src/devnet/chain/accounts.ts';
import { startChainProcess } from '../../src/devnet/chain/chain-process.ts';
import { findEngine, type Hardfork } from '../../src/devnet/chain/engine.ts';
import { httpRpc } from '../../src/devnet/chain/rpc.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { chainActions, type Sending, secondOf, signedSending } from './chain-actions.ts';
import { type ChainKind, chainKind } from './chain-kind.ts';
import { PATIENCE_MS } from './until.ts';

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
  const { deployments, mints, ...contracts } = await firstTransactions(chainId, hardfork);
  for (const raw of deployments) {
    await call('eth_sendRawTransaction', raw);
    await mine();
  }
  await httpRpc(chain.rpcUrl, { timeoutMs: PATIENCE_MS }).batch(
    mints.map(raw => ({ method: 'eth_sendRawTransaction', params: [raw] })),
  );
  await mine();

  async function stop(): Promise<void> {
    await chain.stop();
    await rm(folder, { recursive: true, force: true });
  }

  return {
    chainId,
    clock,
    ...contracts,
    accounts: deriveAccounts().addresses.map(lowerCase),
    ...actions,
    async pay({ from, to, amount, token = contracts.token, ...rest }) {
      const args = [addressOf(to), amount] as const;
      const data = encodeFunctionData({ abi: fungibleAbi, functionName: 'transfer', args });
      return (await send({ from, to: token, data, ...rest })).hash;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Contracts of a chain, and the raw transactions of account 0 that deploy them and mint tokens. */
interface FirstTransactions {
  readonly token: Address;
  readonly lookalike: Address;
  readonly postcards: Address;
  readonly deployments: readonly Hex[];
  readonly mints: readonly Hex[];
}

const signed = new Map<string, Promise<FirstTransactions>>();

/** The first transactions of a payment chain. Signed once per process, because that takes longer than executing them. */
function firstTransactions(chainId: number, hardfork: Hardfork): Promise<FirstTransactions> {
  const key = `${chainId} ${hardfork}`;
  const transactions = signed.get(key) ?? signFirst(chainId, hardfork);
  signed.set(key, transactions);
  return transactions;
}

async function signFirst(chainId: number, hardfork: Hardfork): Promise<FirstTransactions> {
  const { addresses, signer } = deriveAccounts();
  const owner = signer(0);
  let nonce = 0;
  const sign = (content: Pick<Sending, 'to' | 'data'>) =>
    signedSending(owner, { chainId, hardfork, nonce: nonce++, ...content });
  async function deploy(artifact: string, name: string, symbol: string) {
    const abi = parseAbi(['constructor(string name, string symbol)']);
    const address = getContractAddress({ from: owner.address, nonce: BigInt(nonce) });
    const data = encodeDeployData({ abi, args: [name, symbol], bytecode: creationCode(artifact) });
    return { address, raw: await sign({ data }) };
  }

  const token = await deploy('StableToken', 'US Dollar Sample', 'USDS');
  const lookalike = await deploy('StableToken', 'US Dollar Sample', 'USDS');
  const postcards = await deploy('Postcards', 'Postcards', 'POST');
  const mints: Hex[] = [];
  for (const account of addresses.slice(0, FUNDED)) {
    const args = [account, 10n ** 15n] as const;
    const data = encodeFunctionData({ abi: fungibleAbi, functionName: 'mint', args });
    for (const { address } of [token, lookalike]) mints.push(await sign({ to: address, data }));
  }
  return {
    token: lowerCase(token.address),
    lookalike: lowerCase(lookalike.address),
    postcards: lowerCase(postcards.address),
    deployments: [token, lookalike, postcards].map(({ raw }) => raw),
    mints,
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
