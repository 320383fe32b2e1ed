import type { Hash } from 'viem';
import type { BlockProof } from '#evm/proofs/block-proof.ts';
import { withFieldsOfType } from '#evm/proofs/transaction-encoding.ts';
import type { RpcReceipt, RpcTransaction } from '#evm/rpc.ts';
import type { Logger } from '#lib/logger.ts';
import { assertWellFormed, ChainMoved, ContradictoryBlock } from '../../node/block-ref.ts';
import {
  malformedInBlock,
  malformedInReceipts,
  malformedInTransactions,
} from '../../node/malformed-fields.ts';
import type { BlockBody } from './block-body.ts';
import { partsReader } from './block-parts.ts';
import type { ChainProofs } from './chain-proofs.ts';
import { distinctReceipts, distinctTransactions, withDistinctLogs } from './distinct-entries.ts';
import type { FetchedBlock, NodeCalls } from './fetched-block.ts';
import { type ReceiverCode, receiversOf } from './receiver-code.ts';

/** A block as nodes sent it, with what could be recomputed of it. */
export interface RecomputedBlock extends Omit<FetchedBlock, 'isProven'> {
  readonly proof: BlockProof;
}

interface BlockReaderDeps {
  /** One node, or several of which the first that can answers. */
  readonly client: NodeCalls;
  readonly code: Pick<ReceiverCode, 'prefetch'>;
  readonly proofs: Pick<ChainProofs, 'prove'>;
  readonly log: Logger;
}

/**
 * Completes and recomputes blocks. Repeated entries are kept once.
 * @throws ChainMoved when the node does not have the block any more, or the answers are of several blocks
 * @throws ContradictoryBlock when an answer contradicts itself, or has a value that cannot be stored (Decision 384)
 */
export function blockReader({
  client,
  code,
  proofs,
  log,
}: BlockReaderDeps): (body: BlockBody) => Promise<RecomputedBlock> {
  const partsOf = partsReader(client, log);

  async function proven(parts: Omit<RecomputedBlock, 'proof'>): Promise<RecomputedBlock> {
    const { block, transactions } = parts;
    const proof = await proofs.prove({
      block,
      transactions: transactions.map(({ transaction }) => transaction),
      receipts: transactions.map(({ receipt }) => receipt),
    });
    return { ...parts, proof };
  }

  return async ({ number, hash, block, listed }) => {
    assertWellFormed(number, malformedInBlock(block));
    const transactions = distinctTransactions(listed, number).map(withFieldsOfType);
    assertWellFormed(number, malformedInTransactions(transactions));
    const ref = { number, hash, transactions: transactions.map(one => one.hash) };
    if (transactions.length === 0)
      return proven({ number, hash, block, transactions: [], traces: [], touched: [], unreadable: null });

    const [parts] = await Promise.all([
      partsOf(ref),
      code.prefetch({ number, receivers: receiversOf(transactions) }),
    ]);
    const { receipts, traces, touched, unreadable, misfit } = parts;
    // Traces refer to positions in the node's own list, which differ once duplicates are removed.
    if (listed.length > transactions.length && traces !== null)
      throw new ContradictoryBlock(number, 'transactions that have traces are listed twice');
    const given = receipts.filter(receipt => receipt !== null);
    assertWellFormed(number, malformedInReceipts(given));
    const distinct = withDistinctLogs(distinctReceipts(given, number), number);
    if (listed.length > transactions.length || countOf(given) > countOf(distinct)) {
      log.warn({ chainId: client.id, block: number }, 'the node repeats itself, each entry is kept once');
    }
    const unread = new Set(ref.transactions.filter((_, at) => receipts[at] === null));
    const found = await proven({
      number,
      hash,
      block,
      transactions: pair(transactions, { receipts: distinct, unread }, ref),
      traces,
      touched,
      unreadable,
    });
    if (misfit !== undefined && found.proof.kind !== 'contradiction') throw misfit;
    return found;
  };
}

/** Number of receipts and logs. */
function countOf(receipts: readonly RpcReceipt[]): number {
  return receipts.reduce((sum, { logs }) => sum + 1 + logs.length, 0);
}

/**
 * Pairs transactions with their receipts, which are in the same order without those of `unread`.
 * @throws ChainMoved when there are none, or they are of another block
 * @throws ContradictoryBlock when they are of other transactions
 */
function pair(
  transactions: readonly RpcTransaction[],
  { receipts, unread }: { receipts: readonly RpcReceipt[]; unread: ReadonlySet<Hash> },
  { number, hash }: { number: number; hash: Hash },
): FetchedBlock['transactions'] {
  if (receipts.length + unread.size === 0 || receipts.some(({ blockHash }) => blockHash !== hash))
    throw new ChainMoved(number);
  const contradictory = (reason: string) => new ContradictoryBlock(number, reason, { isOfContents: true });
  if (receipts.length + unread.size !== transactions.length)
    throw contradictory(`it has ${transactions.length} transactions and ${receipts.length} receipts`);
  const given = receipts.values();
  return transactions.map(transaction => {
    if (unread.has(transaction.hash)) return { transaction, receipt: null };
    const receipt = given.next().value;
    if (receipt?.transactionHash !== transaction.hash)
      throw contradictory(`transaction ${transaction.hash} has no receipt`);
    return { transaction, receipt };
  });
}
