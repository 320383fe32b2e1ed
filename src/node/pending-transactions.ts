import type { Address, Hash, Hex } from 'viem';
import { optionalBigInt, type RpcTransaction } from '../evm/rpc.ts';
import { type ChainClient, nullIfAnswered } from './client.ts';

/** Pending transaction in the node's pool. Amounts in wei. */
export interface PendingTransaction {
  hash: Hash;
  from: Address;
  to: Address | null;
  value: bigint;
  nonce: bigint;
  gasLimit: bigint;
  gasPrice: bigint | null;
  maxFeePerGas: bigint | null;
  maxPriorityFeePerGas: bigint | null;
  type: number;
  input: Hex;
  selector: Hex | null;
}

/**
 * Returns the executable transactions of the node's pool, from `txpool_content` or else from the pending block. Empty
 * when the node offers neither. Nodes do not report when they first saw a transaction, so the order is the node's.
 * @throws when the node cannot be reached.
 */
export async function pendingTransactions(client: ChainClient): Promise<PendingTransaction[]> {
  await client.verify();
  const pool = await fromPool(client).catch(nullIfAnswered);
  const found = pool ?? (await fromPendingBlock(client).catch(nullIfAnswered)) ?? [];
  return found.map(pendingOf);
}

/** Error for a transaction in a block that is not indexed: the index is behind, or it started at a later block. */
export class MinedMeanwhile extends Error {
  readonly blockNumber: number;
  constructor(hash: Hash, blockNumber: number) {
    super(`Transaction ${hash} is in block ${blockNumber}, which is not indexed.`);
    this.name = 'MinedMeanwhile';
    this.blockNumber = blockNumber;
  }
}

/**
 * Returns a pending transaction by hash; null when the node does not know it.
 * @throws MinedMeanwhile when it is already mined; other errors when the node cannot be reached.
 */
export async function pendingTransaction(
  client: ChainClient,
  hash: Hash,
): Promise<PendingTransaction | null> {
  await client.verify();
  const found = await client.request({ method: 'eth_getTransactionByHash', params: [hash] });
  if (found?.blockHash) throw new MinedMeanwhile(hash, Number(found.blockNumber));
  return found === null ? null : pendingOf(found);
}

async function fromPool({ request }: ChainClient): Promise<RpcTransaction[]> {
  const { pending } = await request({ method: 'txpool_content' });
  return Object.values(pending).flatMap(byNonce => Object.values(byNonce));
}

/**
 * Reads the pending block. A node without one returns the latest block instead, recognizable by its hash; its
 * transactions are mined already.
 */
async function fromPendingBlock({ request }: ChainClient): Promise<RpcTransaction[]> {
  const block = await request({ method: 'eth_getBlockByNumber', params: ['pending', true] });
  if (block === null || block.hash !== null) return [];
  return block.transactions.filter(entry => typeof entry !== 'string');
}

function pendingOf(transaction: RpcTransaction): PendingTransaction {
  const { input, to } = transaction;
  return {
    hash: transaction.hash,
    from: transaction.from,
    to: to ?? null,
    value: BigInt(transaction.value),
    nonce: BigInt(transaction.nonce),
    gasLimit: BigInt(transaction.gas),
    gasPrice: optionalBigInt(transaction.gasPrice),
    maxFeePerGas: optionalBigInt(transaction.maxFeePerGas),
    maxPriorityFeePerGas: optionalBigInt(transaction.maxPriorityFeePerGas),
    type: Number(transaction.type ?? 0),
    input,
    selector: to && input.length >= 10 ? `0x${input.slice(2, 10)}` : null,
  };
}
