import { type Hash, numberToHex } from 'viem';
import type { RpcReceipt, RpcTransaction } from '../../evm/rpc.ts';
import type { Logger } from '../../lib/logger.ts';
import type { ChainClient } from '../../node/client.ts';
import type { FetchedBlock, Header } from './fetched-block.ts';
import { type NodeSources, probeSources } from './node-capabilities.ts';
import { type ReceiverCode, receiversOf } from './receiver-code.ts';

/** The node's answers were of two different blocks: it changed its mind in between. Ask again. */
export class ChainMoved extends Error {
  constructor(number: number) {
    super(`Block ${number} changed while it was being fetched.`);
    this.name = 'ChainMoved';
  }
}

export interface BlockFetcher {
  /** @throws ChainMoved when the block is not there (any more) or changed meanwhile. */
  block(number: number): Promise<FetchedBlock>;
  /** Null when the node has no such block. */
  header(number: number | 'latest'): Promise<Header | null>;
}

/** Reads blocks with everything inside from a node, by the best methods that it has. */
export function blockFetcher({
  client,
  code,
  log,
}: {
  client: ChainClient;
  code: Pick<ReceiverCode, 'prefetch'>;
  log: Logger;
}): BlockFetcher {
  let sources: Promise<NodeSources> | undefined;

  async function block(number: number): Promise<FetchedBlock> {
    const found = await client.request({
      method: 'eth_getBlockByNumber',
      params: [numberToHex(number), true],
    });
    if (found === null || found.hash === null) throw new ChainMoved(number);
    const transactions = found.transactions.filter(entry => typeof entry !== 'string');
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
    return {
      number,
      hash: ref.hash,
      block: found,
      transactions: pair(transactions, blockReceipts, ref),
      traces: blockTraces,
    };
  }

  async function header(number: number | 'latest'): Promise<Header | null> {
    const tag = number === 'latest' ? number : numberToHex(number);
    const found = await client.request({ method: 'eth_getBlockByNumber', params: [tag, false] });
    if (found === null || found.number === null || found.hash === null) return null;
    return { number: Number(found.number), hash: found.hash, parentHash: found.parentHash };
  }

  return { block, header };
}

function pair(
  transactions: readonly RpcTransaction[],
  receipts: readonly (RpcReceipt | null)[] | null,
  { number, hash }: { number: number; hash: Hash },
): FetchedBlock['transactions'] {
  if (receipts?.length !== transactions.length) throw new ChainMoved(number);
  return transactions.map((transaction, position) => {
    const receipt = receipts[position];
    const isOurs = receipt?.blockHash === hash && receipt.transactionHash === transaction.hash;
    if (receipt === null || receipt === undefined || !isOurs) throw new ChainMoved(number);
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
