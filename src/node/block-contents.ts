import { type Hash, numberToHex } from 'viem';
import type { BlockContents } from '../evm/proofs/block-proof.ts';
import type { RpcReceipt, RpcTransaction } from '../evm/rpc.ts';
import { type BlockRef, ChainMoved } from './block-ref.ts';
import type { RawRequest } from './chain-node.ts';
import { type ChainClient, nodeAnswered, nullIfAnswered, nullIfNotGiven } from './client.ts';

/** Receipts that are asked for at a time from a node that has no method for those of a block. */
const RECEIPTS_AT_A_TIME = 25;

/** Header and transactions of a block. */
export type BlockWithoutReceipts = Omit<BlockContents, 'receipts'>;

/**
 * Reads all parts of a block that its hash commits to from one node. The receipt of a transaction is null where the node
 * has none.
 * @throws ChainMoved when the node has another block in its place, AnswerTooLarge, or the error of the node
 */
export async function blockContents(
  request: RawRequest,
  ref: Pick<BlockRef, 'number' | 'hash'>,
): Promise<BlockContents> {
  return withReceipts(request, ref, await blockBody(request, ref));
}

/** Reads the header and the transactions. @throws as `blockContents` does */
export async function blockBody(
  request: RawRequest,
  { number, hash }: Pick<BlockRef, 'number' | 'hash'>,
): Promise<BlockWithoutReceipts> {
  const block = await request({ method: 'eth_getBlockByHash', params: [hash, true] });
  if (block?.hash?.toLowerCase() !== hash) throw new ChainMoved(number);
  const transactions: RpcTransaction[] = [];
  for (const one of block.transactions) if (typeof one === 'object') transactions.push(one);
  return { block, transactions };
}

/** Adds the receipts, from the same node. @throws as `blockContents` does */
export async function withReceipts(
  request: RawRequest,
  { number, hash }: Pick<BlockRef, 'number' | 'hash'>,
  { block, transactions }: BlockWithoutReceipts,
): Promise<BlockContents> {
  const hashes = transactions.map(one => one.hash);
  const receipts =
    hashes.length === 0 ? [] : await receiptsOf(request, { number, hash, transactions: hashes });
  const isOfBlock = (receipt: RpcReceipt | null) => (receipt?.blockHash ?? hash).toLowerCase() === hash;
  if (!receipts.every(isOfBlock)) throw new ChainMoved(number);
  return { block, transactions, receipts };
}

/** The same, after a check of the chain id. Null when the node has another block in its place, or does not give all of it. */
export async function givenContents(
  { request, verify }: Pick<ChainClient, 'request' | 'verify'>,
  block: Pick<BlockRef, 'number' | 'hash'>,
): Promise<BlockContents | null> {
  await verify();
  return blockContents(request, block).catch((error: unknown) =>
    error instanceof ChainMoved ? null : nullIfNotGiven(error),
  );
}

async function receiptsOf(
  request: RawRequest,
  { number, transactions }: BlockRef,
): Promise<readonly (RpcReceipt | null)[]> {
  try {
    // By number, because some nodes take no hash here. The receipts name their block.
    const all = await request({ method: 'eth_getBlockReceipts', params: [numberToHex(number)] });
    if (all === null) throw new ChainMoved(number);
    return all;
  } catch (error) {
    if (!nodeAnswered(error)) throw error;
  }
  const receiptOf = (hash: Hash) =>
    request({ method: 'eth_getTransactionReceipt', params: [hash] }).catch(nullIfAnswered);
  const receipts: (RpcReceipt | null)[] = [];
  for (let from = 0; from < transactions.length; from += RECEIPTS_AT_A_TIME)
    receipts.push(...(await Promise.all(transactions.slice(from, from + RECEIPTS_AT_A_TIME).map(receiptOf))));
  return receipts;
}
