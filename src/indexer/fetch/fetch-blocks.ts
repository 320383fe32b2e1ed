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
   * @throws ChainMoved when the block is not there (any more) or changed meanwhile
   * @throws ContradictoryBlock when no node tells the block without a contradiction
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
 * Reads blocks with everything inside from a node, by the best methods that it has. A block about which one node
 * contradicts itself is asked of the others.
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
      // When all fail, the contradiction is what is to be known.
      if (found === undefined) throw error;
      return found;
    }
  }

  /** The block that the chain's header names, from the first node that tells it without a contradiction. */
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

/** Reads blocks from one node, or from whichever answers. What that repeats is kept once. */
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
    // Traces have places among the transactions as the node lists them, and those are other places.
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

/** Receipts and their logs. */
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

/** Blocks asked for together, so that their requests travel in the same JSON-RPC batches. */
const CHUNK = 25;
/** Chunks under way at a time: the node works on the next ones while one is being written. */
const AHEAD = 3;

/**
 * Fetches `from` to `to` inclusive and yields them chunk by chunk in order, a bounded way ahead of the reader.
 * @throws as soon as a chunk cannot be fetched; what was already asked for is left to fail quietly.
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
    // Its failure is thrown when its turn comes; if an earlier one fails first, nobody waits for this one.
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
