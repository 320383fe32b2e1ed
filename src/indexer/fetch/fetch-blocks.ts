import { type Hash, numberToHex } from 'viem';
import type { RpcReceipt, RpcTransaction } from '../../evm/rpc.ts';
import { type Logger, logAndGoOn } from '../../lib/logger.ts';
import type { ChainClient } from '../../node/client.ts';
import { ChainMoved, ContradictoryBlock } from './block-faults.ts';
import type { FetchedBlock, Header } from './fetched-block.ts';
import { type NodeCalls, type NodeSources, probeSources } from './node-capabilities.ts';
import { type ReceiverCode, receiversOf } from './receiver-code.ts';
import { distinctReceipts, distinctTransactions, withDistinctLogs } from './repetitions.ts';

export interface BlockFetcher {
  /**
   * Fetches a block with its contents.
   * @throws ChainMoved when the node does not have the block (any more) or it changed during the fetch
   * @throws ContradictoryBlock when every node contradicts itself about the block
   */
  block(number: number): Promise<FetchedBlock>;
  /** Null when the node has no such block. */
  header(number: number | 'latest'): Promise<Header | null>;
}

interface FetcherOptions<Client> {
  client: Client;
  code: Pick<ReceiverCode, 'prefetch'>;
  log: Logger;
}

/**
 * Reads complete blocks from a node by the best methods it supports. When one node contradicts itself about a block,
 * the other nodes are tried.
 */
export function blockFetcher({ client, code, log }: FetcherOptions<ChainClient>): BlockFetcher {
  const { id, request, nodes } = client;
  const readBlock = blockReader({ client, code, log });
  const readers = nodes.map(({ raw, verify }) => {
    const read = blockReader({ client: { id, request: raw }, code, log });
    return async (number: number) => {
      await verify();
      return read(number);
    };
  });

  async function block(number: number): Promise<FetchedBlock> {
    try {
      return await readBlock(number);
    } catch (error) {
      if (!(error instanceof ContradictoryBlock) || nodes.length === 1) throw error;
      log.warn({ err: error, chainId: id }, 'a node contradicts itself, asking the others');
      const found = await blockOfOneNode(number);
      // If all nodes fail, the contradiction is the more useful error.
      if (found === undefined) throw error;
      return found;
    }
  }

  /** The block with the hash that the chain's header names, from the first node that reports it consistently. */
  async function blockOfOneNode(number: number): Promise<FetchedBlock | undefined> {
    const known = await header(number);
    for (const read of readers) {
      const found = await read(number).catch(logAndGoOn(log, 'asking another node for a block'));
      if (found !== undefined && found.hash === known?.hash) return found;
    }
    return undefined;
  }

  async function header(number: number | 'latest'): Promise<Header | null> {
    const tag = number === 'latest' ? number : numberToHex(number);
    const found = await request({ method: 'eth_getBlockByNumber', params: [tag, false] });
    if (found === null || found.number === null || found.hash === null) return null;
    return { number: Number(found.number), hash: found.hash, parentHash: found.parentHash };
  }

  return { block, header };
}

/** Reads blocks from one node, or from the first node of several that answers. Repeated entries are kept once. */
function blockReader({
  client,
  code,
  log,
}: FetcherOptions<NodeCalls>): (number: number) => Promise<FetchedBlock> {
  let sources: Promise<NodeSources> | undefined;

  return async number => {
    const found = await client.request({
      method: 'eth_getBlockByNumber',
      params: [numberToHex(number), true],
    });
    if (found === null || found.hash === null) throw new ChainMoved(number);
    const listed = found.transactions.filter(entry => typeof entry !== 'string');
    const transactions = distinctTransactions(listed, number);
    const ref = { number, hash: found.hash, transactions: transactions.map(({ hash }) => hash) };
    if (transactions.length === 0)
      return { number, hash: ref.hash, block: found, transactions: [], traces: [] };

    sources ??= probeSources(client, ref, log).catch((error: unknown) => {
      sources = undefined;
      throw error;
    });
    const { receipts, traces } = await sources;
    const [blockReceipts, blockTraces] = await Promise.all([
      receipts(ref),
      traces(ref),
      code.prefetch({ number, receivers: receiversOf(transactions) }),
    ]);
    // Traces refer to positions in the node's own list, which differ once duplicates are removed.
    if (listed.length > transactions.length && blockTraces !== null)
      throw new ContradictoryBlock(number, 'transactions that have traces are listed twice');
    const given = receiptsOf(blockReceipts, number);
    const distinct = withDistinctLogs(distinctReceipts(given, number), number);
    if (listed.length > transactions.length || countOf(given) > countOf(distinct)) {
      log.warn({ chainId: client.id, block: number }, 'the node repeats itself, each entry is kept once');
    }
    return {
      number,
      hash: ref.hash,
      block: found,
      transactions: pair(transactions, distinct, ref),
      traces: blockTraces,
    };
  };
}

function receiptsOf(receipts: readonly (RpcReceipt | null)[] | null, number: number): RpcReceipt[] {
  return (receipts ?? [null]).map(receipt => {
    if (receipt === null) throw new ChainMoved(number);
    return receipt;
  });
}

/** Number of receipts and logs. */
function countOf(receipts: readonly RpcReceipt[]): number {
  return receipts.reduce((sum, { logs }) => sum + 1 + logs.length, 0);
}

function pair(
  transactions: readonly RpcTransaction[],
  receipts: readonly RpcReceipt[],
  { number, hash }: { number: number; hash: Hash },
): FetchedBlock['transactions'] {
  if (receipts.length !== transactions.length) throw new ChainMoved(number);
  return transactions.map((transaction, position) => {
    const receipt = receipts[position];
    const isOurs = receipt?.blockHash === hash && receipt.transactionHash === transaction.hash;
    if (receipt === undefined || !isOurs) throw new ChainMoved(number);
    return { transaction, receipt };
  });
}

/** Blocks requested together, so that their requests share JSON-RPC batches. */
const CHUNK = 25;
/** Chunks in flight: the node works on the next ones while one is being written. */
const AHEAD = 3;

/**
 * Fetches the blocks `from` to `to` (inclusive) and yields them in order, in chunks. Reads ahead by at most `AHEAD`
 * chunks.
 * @throws as soon as a chunk cannot be fetched; failures of later chunks already requested are ignored
 */
export async function* fetchInOrder(
  fetcher: BlockFetcher,
  { from, to }: { from: number; to: number },
): AsyncGenerator<FetchedBlock[]> {
  const underWay: Promise<FetchedBlock[]>[] = [];
  let next = from;
  const ask = () => {
    const numbers = Array.from({ length: Math.min(CHUNK, to - next + 1) }, (_, offset) => next + offset);
    next += numbers.length;
    const chunk = Promise.all(numbers.map(number => fetcher.block(number)));
    // A failure is thrown when this chunk's turn comes. If an earlier chunk fails first, this one is never awaited.
    chunk.catch(() => undefined);
    underWay.push(chunk);
  };
  while (next <= to || underWay.length > 0) {
    while (next <= to && underWay.length < AHEAD) ask();
    const chunk = await underWay.shift();
    if (next <= to) ask();
    if (chunk !== undefined) yield chunk;
  }
}
