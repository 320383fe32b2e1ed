import { isDeepStrictEqual } from 'node:util';
import { type Hash, numberToHex } from 'viem';
import type { RpcLog, RpcReceipt, RpcTransaction } from '#evm/rpc.ts';
import { type Logger, logAndGoOn } from '#lib/logger.ts';
import type { ChainClient } from '#node/client.ts';
import { ChainMoved, ContradictoryBlock } from '../../node/block-ref.ts';
import { type BlockBody, bodyReader } from './block-body.ts';
import { partsReader } from './block-parts.ts';
import type { BlockHeader, FetchedBlock, NodeCalls } from './fetched-block.ts';
import { type ReceiverCode, receiversOf } from './receiver-code.ts';

export interface BlockFetcher {
  /**
   * Fetches a block with its transactions.
   * @throws ChainMoved when the node does not have the block (any more) or it changed during the fetch
   */
  body(number: number): Promise<BlockBody>;
  /**
   * Fetches the rest of a block.
   * @throws ChainMoved as `body`
   * @throws ContradictoryBlock when every node contradicts itself about the block
   */
  complete(body: BlockBody): Promise<FetchedBlock>;
  /** Null when the node has no such block. */
  header(number: number | 'latest'): Promise<BlockHeader | null>;
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
  const body = bodyReader(client);
  const completed = blockReader({ client, code, log });
  const readers = nodes.map(({ raw, verify }) => {
    const one = { id, request: raw };
    const [bodyOf, complete] = [bodyReader(one), blockReader({ client: one, code, log })];
    return async (number: number) => {
      await verify();
      return complete(await bodyOf(number));
    };
  });

  async function complete(ofBlock: BlockBody): Promise<FetchedBlock> {
    try {
      return await completed(ofBlock);
    } catch (error) {
      if (!(error instanceof ContradictoryBlock) || nodes.length === 1) throw error;
      log.warn({ err: error, chainId: id }, 'a node contradicts itself, asking the others');
      const found = await blockOfOneNode(ofBlock.number);
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

  async function header(number: number | 'latest'): Promise<BlockHeader | null> {
    const tag = number === 'latest' ? number : numberToHex(number);
    const found = await request({ method: 'eth_getBlockByNumber', params: [tag, false] });
    if (found === null || found.number === null || found.hash === null) return null;
    return { number: Number(found.number), hash: found.hash, parentHash: found.parentHash };
  }

  return { body, complete, header };
}

/** Completes blocks by one node, or by the first of several that answers. Repeated entries are kept once. */
function blockReader({
  client,
  code,
  log,
}: FetcherOptions<NodeCalls>): (body: BlockBody) => Promise<FetchedBlock> {
  const partsOf = partsReader(client, log);

  return async ({ number, hash, block, listed }) => {
    const transactions = distinctTransactions(listed, number);
    const ref = { number, hash, transactions: transactions.map(one => one.hash) };
    if (transactions.length === 0)
      return { number, hash, block, transactions: [], traces: [], touched: [], unreadable: null };

    const [parts] = await Promise.all([
      partsOf(ref),
      code.prefetch({ number, receivers: receiversOf(transactions) }),
    ]);
    const { receipts, traces, touched, unreadable } = parts;
    // Traces refer to positions in the node's own list, which differ once duplicates are removed.
    if (listed.length > transactions.length && traces !== null)
      throw new ContradictoryBlock(number, 'transactions that have traces are listed twice');
    const given = receipts.filter(receipt => receipt !== null);
    const distinct = withDistinctLogs(distinctReceipts(given, number), number);
    if (listed.length > transactions.length || countOf(given) > countOf(distinct)) {
      log.warn({ chainId: client.id, block: number }, 'the node repeats itself, each entry is kept once');
    }
    const unread = new Set(ref.transactions.filter((_, at) => receipts[at] === null));
    return {
      number,
      hash,
      block,
      transactions: pair(transactions, { receipts: distinct, unread }, ref),
      traces,
      touched,
      unreadable,
    };
  };
}

/** Number of receipts and logs. */
function countOf(receipts: readonly RpcReceipt[]): number {
  return receipts.reduce((sum, { logs }) => sum + 1 + logs.length, 0);
}

/** Pairs transactions with their receipts, which are in the same order without those of `unread`. */
function pair(
  transactions: readonly RpcTransaction[],
  { receipts, unread }: { receipts: readonly RpcReceipt[]; unread: ReadonlySet<Hash> },
  { number, hash }: { number: number; hash: Hash },
): FetchedBlock['transactions'] {
  if (receipts.length + unread.size !== transactions.length) throw new ChainMoved(number);
  const given = receipts.values();
  return transactions.map(transaction => {
    if (unread.has(transaction.hash)) return { transaction, receipt: null };
    const receipt = given.next().value;
    const isOurs = receipt?.blockHash === hash && receipt.transactionHash === transaction.hash;
    if (receipt === undefined || !isOurs) throw new ChainMoved(number);
    return { transaction, receipt };
  });
}

/**
 * Removes transactions that a node lists twice.
 * @throws ContradictoryBlock when two different ones have the same hash
 */
function distinctTransactions(transactions: readonly RpcTransaction[], number: number): RpcTransaction[] {
  return transactions.filter(firstOfEach(({ hash }) => hash, `two transactions have the hash`, number));
}

/**
 * Removes receipts that a node lists twice.
 * @throws ContradictoryBlock when two different ones belong to the same transaction
 */
function distinctReceipts(receipts: readonly RpcReceipt[], number: number): RpcReceipt[] {
  const hashOf = ({ transactionHash }: RpcReceipt) => transactionHash;
  return receipts.filter(firstOfEach(hashOf, 'two receipts are of the transaction', number));
}

/**
 * Removes logs that a node lists twice.
 * @throws ContradictoryBlock when two different ones have the same index in the block
 */
function withDistinctLogs(receipts: readonly RpcReceipt[], number: number): readonly RpcReceipt[] {
  if (areInOrder(receipts)) return receipts;
  const isFirst = firstOfEach(logIndexOf, 'two logs have the index', number);
  return receipts.map(receipt => ({ ...receipt, logs: receipt.logs.filter(isFirst) }));
}

/** True when each log has a higher index than the one before, as in almost every block. */
function areInOrder(receipts: readonly RpcReceipt[]): boolean {
  let last = -1;
  for (const log of receipts.values().flatMap(({ logs }) => logs)) {
    if (logIndexOf(log) <= last) return false;
    last = logIndexOf(log);
  }
  return true;
}

function logIndexOf({ logIndex }: RpcLog): number {
  return Number(logIndex);
}

/**
 * Filter that keeps the first entry of each key and drops exact repetitions.
 * @throws ContradictoryBlock when two entries of one key differ
 */
function firstOfEach<Entry>(
  keyOf: (entry: Entry) => string | number,
  fault: string,
  block: number,
): (entry: Entry) => boolean {
  const known = new Map<string | number, Entry>();
  return entry => {
    const key = keyOf(entry);
    const before = known.get(key);
    if (before !== undefined && !isDeepStrictEqual(before, entry)) {
      throw new ContradictoryBlock(block, `${fault} ${key}`);
    }
    known.set(key, entry);
    return before === undefined;
  };
}
