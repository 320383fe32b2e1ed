import type { Address, Hash, Hex } from 'viem';
import { optionalBigInt, type RpcTransaction } from '../evm/rpc.ts';
import { type ChainClient, nullIfAnswered } from './client.ts';

/** A transaction that waits in the node's pool. Amounts in wei. */
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
 * What the node's pool holds right now: executable ones only, from `txpool_content`, else from the pending
 * block, else nothing. Nodes do not say when they first saw one, so the order is the node's.
 * @throws when the node cannot be reached.
 */
export async function pendingTransactions(client: ChainClient): Promise<PendingTransaction[]> {
  await client.verify();
  const pool = await fromPool(client).catch(nullIfAnswered);
  const found = pool ?? (await fromPendingBlock(client).catch(nullIfAnswered)) ?? [];
  return found.map(pendingOf);
}

/** The node has put a transaction into a block that the index does not have: not yet, or because it began later. */
export class MinedMeanwhile extends Error {
  readonly blockNumber: number;
  constructor(hash: Hash, blockNumber: number) {
    super(`Transaction ${hash} is in block ${blockNumber}, which is not indexed.`);
    this.name = 'MinedMeanwhile';
    this.blockNumber = blockNumber;
  }
}

/**
 * One waiting transaction by its hash; null when the node does not know it.
 * @throws MinedMeanwhile when it waits no more; other errors when the node cannot be reached.
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

/** A node that has no pending block answers with the latest one, which has a hash: those are mined already. */
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
