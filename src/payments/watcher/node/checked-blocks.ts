import { type BlockProof, unproven } from '#evm/proofs/block-proof.ts';
import { headerProblem, proveBody } from '#evm/proofs/prove-block.ts';
import type { RpcBlock, RpcTransaction } from '#evm/rpc.ts';
import { reasonOf } from '#lib/startup-error.ts';
import type { ChainNode } from '#node/chain-node.ts';
import type { ChainClient } from '#node/client.ts';
import type { NodePool, NodeRequest, RawNode } from './node-pool.ts';

/** Called with each block of an answer. */
export type BlockSeen = (block: RpcBlock | null) => void;

/** Questions to one node that show the blocks in its answers. */
type CheckedQuestions<T> = (request: NodeRequest, node: RawNode, saw: BlockSeen) => Promise<T>;

/** `NodePool.ask` for questions that show blocks. */
export type AskChecked = <T>(questions: CheckedQuestions<T>) => Promise<T>;

/** Blocks in a row with another hash from which on the chain counts as one that hashes otherwise (Decision 381). */
const OTHERWISE_FROM = 8;

interface CheckedAnswer<T> {
  readonly answer: T;
  readonly node: ChainNode;
  readonly problem: { readonly block: number; readonly reason: string } | undefined;
}

/**
 * Asks another node when a block of an answer does not have the hash that it names, or other transactions than its header
 * says: times, hashes and coins of payments are read from it (Decision 383). The answer stands when no other node has a
 * better one, and on a chain of which no block had its hash so far.
 */
export function askChecked(
  pool: Pick<NodePool, 'ask' | 'each'>,
  { nodes, contradictions }: Pick<ChainClient, 'nodes' | 'contradictions'>,
): AskChecked {
  let isKnown = false;
  let falseInARow = 0;

  async function answerOf<T>(
    questions: CheckedQuestions<T>,
    request: NodeRequest,
    node: RawNode,
  ): Promise<CheckedAnswer<T>> {
    const blocks: RpcBlock[] = [];
    const answer = await questions(request, node, block => {
      if (block !== null) blocks.push(block);
    });
    for (const block of blocks) {
      const proof = await proofOf(block);
      isKnown ||= proof.kind === 'proven';
      if (proof.kind === 'contradiction' || proof.kind === 'other-hash')
        return { answer, node: node.node, problem: { block: Number(block.number), reason: proof.reason } };
    }
    return { answer, node: node.node, problem: undefined };
  }

  return async questions => {
    const first = await pool.ask((request, node) => answerOf(questions, request, node));
    if (first.problem === undefined) falseInARow = 0;
    if (first.problem === undefined || !isKnown || falseInARow >= OTHERWISE_FROM) return first.answer;
    falseInARow += 1;
    for (const other of pool.each()) {
      const next = await other
        .ask((request, node) =>
          node.node === first.node ? Promise.resolve(undefined) : answerOf(questions, request, node),
        )
        .catch(() => undefined);
      if (next === undefined || next.problem !== undefined) continue;
      const { node } = first;
      contradictions.leaveOut(nodes.indexOf(node), { node: node.host, ...first.problem });
      return next.answer;
    }
    return first.answer;
  };
}

/** Recomputes a header, or a block with its transactions. A value of a form that no block has says nothing. */
async function proofOf(block: RpcBlock): Promise<BlockProof> {
  const transactions: RpcTransaction[] = [];
  for (const one of block.transactions) if (typeof one === 'object') transactions.push(one);
  const hasOnlyHashes = transactions.length < block.transactions.length;
  try {
    return hasOnlyHashes
      ? (headerProblem(block) ?? { kind: 'proven' })
      : await proveBody({ block, transactions });
  } catch (error) {
    return unproven(reasonOf(error));
  }
}
