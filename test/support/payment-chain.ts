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

/** A chain that mines on request. `await using` ends it. */
export interface TestPaymentChain extends AsyncDisposable {
  readonly chainId: number;
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
  head(): Promise<number>;
  /** Reverts to a snapshot and mines other blocks in place of those after it. */
  fork(snapshot: unknown, blocks: number, raw?: readonly Hex[]): Promise<void>;
  snapshot(): Promise<unknown>;
  /**
   * Brings the chain's clock back to real time after blocks were removed: it continues from the last one that is left, and
   * payments would seem older than their sessions.
   */
  keepTime(): Promise<void>;
  stop(): Promise<void>;
}

const FUNDED = 20;

export async function startPaymentChain(
  chainId = 31_337,
  { engine = 'anvil' }: { engine?: EngineName } = {},
): Promise<TestPaymentChain> {
  const folder = await mkdtemp(join(tmpdir(), 'payment-chain-'));
  const chain = await startChainProcess({
    engine: findEngine({ engine }),
    chainId,
    folder,
    genesisTime: Math.floor(Date.now() / 1000),
    isRunFolderDisposable: true,
  });
  const { call, batch } = httpRpc(chain.rpcUrl);
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

  async function mine(blocks = 1): Promise<void> {
    await batch(Array.from({ length: blocks }, () => ({ method: 'evm_mine', params: [] })));
  }

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

  async function keepTime(): Promise<void> {
    const now = Math.floor(Date.now() / 1000);
    const { timestamp } = Object(await call('eth_getBlockByNumber', 'latest', false));
    if (Number(timestamp) < now) await call('evm_setNextBlockTimestamp', now);
  }

  async function stop(): Promise<void> {
    await chain.stop();
    await rm(folder, { recursive: true, force: true });
  }

  return {
    chainId,
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
    head: async () => Number(await call('eth_blockNumber')),
    snapshot: () => call('evm_snapshot'),
    async fork(snapshot, blocks, raw = []) {
      await call('evm_revert', snapshot);
      await call('anvil_dropAllTransactions');
      await keepTime();
      for (const one of raw) await call('eth_sendRawTransaction', one);
      await mine(blocks);
    },
    keepTime,
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
