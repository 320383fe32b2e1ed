import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Address, encodeDeployData, encodeFunctionData, type Hex, keccak256, parseAbi } from 'viem';
import { fungibleAbi, postcardsAbi } from '../../src/devnet/activity/abis.ts';
import { creationCode } from '../../src/devnet/activity/artifacts.ts';
import { deriveAccounts } from '../../src/devnet/chain/accounts.ts';
import { startChainProcess } from '../../src/devnet/chain/chain-process.ts';
import { type EngineName, findEngine } from '../../src/devnet/chain/engine.ts';
import { httpRpc } from '../../src/devnet/chain/rpc.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { PATIENCE_MS } from './until.ts';

/** A transaction of a funded account, by the account's index. */
interface Sending {
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

interface PaymentChainOptions<C extends Clock> {
  readonly clock: C;
  readonly chainId?: number;
  readonly engine?: EngineName;
}

export async function startPaymentChain<C extends Clock>({
  clock,
  chainId = 31_337,
  engine = 'anvil',
}: PaymentChainOptions<C>): Promise<TestPaymentChain<C>> {
  const folder = await mkdtemp(join(tmpdir(), 'payment-chain-'));
  const chain = await startChainProcess({
    engine: findEngine({ engine }),
    chainId,
    folder,
    genesisTime: secondOf(clock.now()),
    isRunFolderDisposable: true,
  });
  const { call } = httpRpc(chain.rpcUrl, { timeoutMs: PATIENCE_MS });
  const keys = deriveAccounts();

  async function send({ from, to, data, value = 0n, tip = 2, nonce, ...given }: Sending) {
    const signer = keys.signer(from);
    const next = nonce ?? Number(await call('eth_getTransactionCount', signer.address, 'pending'));
    const fee = BigInt(tip) * 10n ** 9n;
    const raw = await signer.signTransaction({
      type: 'eip1559',
      chainId,
      nonce: next,
      gas: given.gas ?? (to === undefined ? 3_000_000n : 90_000n),
      maxFeePerGas: 10n ** 11n + fee,
      maxPriorityFeePerGas: fee,
      value,
      ...(to === undefined ? {} : { to }),
      ...(data === undefined ? {} : { data }),
    });
    await call('eth_sendRawTransaction', raw);
    return { hash: keccak256(raw), raw };
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
    rpcUrl: chain.rpcUrl,
    token,
    lookalike,
    postcards,
    accounts: keys.addresses.map(lowerCase),
    call,
    send,
    mine,
    async pay({ from, to, amount, token: contract = token, ...rest }) {
      const args = [addressOf(to), amount] as const;
      const data = encodeFunctionData({ abi: fungibleAbi, functionName: 'transfer', args });
      return (await send({ from, to: contract, data, ...rest })).hash;
    },
    mineAt: timeMs => inTurn(async () => void (await call('evm_mine', secondOf(timeMs)))),
    head: async () => Number(await call('eth_blockNumber')),
    newestTime: async () => 1000 * (await newestSecond()),
    snapshot: () => call('evm_snapshot'),
    fork: (snapshot, blocks, raw) => replace(() => call('evm_revert', snapshot), blocks, raw),
    replaceLast: blocks => replace(() => call('anvil_rollback', blocks), blocks),
    stop,
    [Symbol.asyncDispose]: stop,
  };
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

function secondOf(ms: number): number {
  return Math.floor(ms / 1000);
}

function lowerCase(address: Address): Address {
  return addressOf(address.toLowerCase());
}

function hasAddress(receipt: unknown): receipt is { contractAddress: Address } {
  return typeof receipt === 'object' && receipt !== null && 'contractAddress' in receipt;
}
