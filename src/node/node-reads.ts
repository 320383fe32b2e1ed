import { type Address, type Hash, type Hex, numberToHex } from 'viem';
import { lowerCase } from '../evm/address.ts';
import { wordOf } from '../evm/call-result.ts';
import { balanceCall } from '../evm/contract-calls.ts';
import type { BlockContents } from '../evm/proofs/block-proof.ts';
import type { RpcParityTrace } from '../evm/rpc.ts';
import { parityOfFrame } from '../evm/traces.ts';
import { givenContents } from './block-contents.ts';
import type { BlockRef } from './block-ref.ts';
import { type ChainClient, nullIfNotGiven } from './client.ts';

/**
 * Reads of data that the index does not store. Null when the node lacks the method or has pruned the state, or when its
 * answer is too large.
 * @throws when the node cannot be reached, or when the signal aborts.
 */
export interface NodeReader {
  /** Trace items in the Parity form, outermost first. */
  trace(hash: Hash, signal: AbortSignal): Promise<RpcParityTrace[] | null>;
  /** Parts of a block that its hash commits to. Also null when the node has another block in its place. */
  contents(block: Pick<BlockRef, 'number' | 'hash'>): Promise<BlockContents | null>;
  /** Coin balances in wei of the accounts whose balance the transaction changed. */
  coinChanges(hash: Hash, signal: AbortSignal): Promise<BalanceChange[] | null>;
  /** Token balance; `tokenId` is for ERC-1155 only. Also null when the contract reverts. */
  tokenBalance(question: TokenBalanceQuestion, signal: AbortSignal): Promise<bigint | null>;
  /** Coin balance in wei at the end of a block. */
  coinBalance(at: { address: Address; blockNumber: number }, signal: AbortSignal): Promise<bigint | null>;
  code(at: { address: Address; blockNumber: number }, signal: AbortSignal): Promise<Hex | null>;
  /**
   * Number of a block of the node's chain; null when the node has no such block, or another block in its place.
   * @throws also when the node answers with an error, which proves neither
   */
  blockNumber(id: number | Hash): Promise<number | null>;
  /** The accounts that have code now, including EIP-7702 delegations. */
  withCode(accounts: readonly (Address | null)[], signal: AbortSignal): Promise<ReadonlySet<Address>>;
}

/** Coin balance in wei before and after a transaction. */
export interface BalanceChange {
  address: Address;
  before: bigint;
  after: bigint;
}

/** Token balance to read, at the end of a block. */
interface TokenBalanceQuestion {
  token: Address;
  holder: Address;
  tokenId: bigint | null;
  blockNumber: number;
}

export function nodeReader(client: ChainClient): NodeReader {
  const { request } = client;

  async function trace(hash: Hash, signal: AbortSignal): Promise<RpcParityTrace[] | null> {
    await client.verify();
    const options = { signal };
    const sources = [
      () => request({ method: 'trace_transaction', params: [hash] }, options),
      async () =>
        (await request({ method: 'trace_replayTransaction', params: [hash, ['trace']] }, options))?.trace,
      async () => {
        const frame = await request(
          { method: 'debug_traceTransaction', params: [hash, { tracer: 'callTracer' }] },
          options,
        );
        return 'type' in frame ? parityOfFrame(frame) : null;
      },
    ];
    for (const source of sources) {
      const found = await source().catch(nullIfNotGiven);
      if (found?.length) return found;
    }
    return null;
  }

  async function coinChanges(hash: Hash, signal: AbortSignal): Promise<BalanceChange[] | null> {
    await client.verify();
    const tracer = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } } as const;
    const diff = await request(
      { method: 'debug_traceTransaction', params: [hash, tracer] },
      { signal },
    ).catch(nullIfNotGiven);
    if (diff === null || !('post' in diff)) return null;
    const addresses = Object.keys({ ...diff.pre, ...diff.post }).filter(isAddressKey);
    return addresses.flatMap(address => {
      const before = BigInt(diff.pre[address]?.balance ?? 0);
      const post = diff.post[address];
      // `post` holds only changed fields. An account missing from it was removed, together with its coins.
      const after = post === undefined ? 0n : BigInt(post.balance ?? before);
      return before === after ? [] : [{ address: lowerCase(address), before, after }];
    });
  }

  function header(number: number) {
    return request({ method: 'eth_getBlockByNumber', params: [numberToHex(number), false] });
  }

  return {
    trace,
    contents: block => givenContents(client, block),
    coinChanges,
    async tokenBalance({ token, holder, tokenId, blockNumber }, signal) {
      await client.verify();
      const params = [{ to: token, data: balanceCall(holder, tokenId) }, numberToHex(blockNumber)] as const;
      return wordOf(
        await request({ method: 'eth_call', params: [...params] }, { signal }).catch(nullIfNotGiven),
      );
    },
    async coinBalance({ address, blockNumber }, signal) {
      await client.verify();
      const params = [address, numberToHex(blockNumber)] as const;
      const balance = await request({ method: 'eth_getBalance', params: [...params] }, { signal }).catch(
        nullIfNotGiven,
      );
      return balance === null ? null : BigInt(balance);
    },
    async code({ address, blockNumber }, signal) {
      await client.verify();
      const params = [address, numberToHex(blockNumber)] as const;
      return request({ method: 'eth_getCode', params: [...params] }, { signal }).catch(nullIfNotGiven);
    },
    async blockNumber(id) {
      await client.verify();
      if (typeof id === 'number') return (await header(id)) === null ? null : id;
      const found = await request({ method: 'eth_getBlockByHash', params: [id, false] });
      const number = found?.number ?? null;
      if (number === null) return null;
      // A node also finds replaced blocks by their hash.
      return (await header(Number(number)))?.hash === id ? Number(number) : null;
    },
    async withCode(accounts, signal) {
      await client.verify();
      const addresses = [...new Set(accounts)].filter(address => address !== null);
      const codes = await Promise.all(
        addresses.map(address =>
          request({ method: 'eth_getCode', params: [address, 'latest'] }, { signal }).catch(nullIfNotGiven),
        ),
      );
      return new Set(addresses.filter((_, position) => (codes[position] ?? '0x') !== '0x'));
    },
  };
}

function isAddressKey(key: string): key is Address {
  return key.startsWith('0x');
}
