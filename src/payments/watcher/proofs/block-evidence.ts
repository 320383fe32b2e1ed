import { BaseError, numberToHex } from 'viem';
import { lowerCase } from '#evm/address.ts';
import type { Clock } from '#lib/clock.ts';
import { blockContents } from '#node/block-contents.ts';
import { blockProver } from '#node/block-prover.ts';
import { ChainMoved } from '#node/block-ref.ts';
import type { ChainNode } from '#node/chain-node.ts';
import type { ChainClient } from '#node/client.ts';
import type { RawNode } from '../node/node-pool.ts';
import type { NodeView } from '../node/node-view.ts';
import { indexedBlocks, type ProvenIndex } from './indexed-blocks.ts';
import { type ProvenTransaction, provenTransactions } from './proven-transfers.ts';

/** A block, and the transactions in it that payments are judged by. Hashes are lower case. */
export interface BlockInQuestion {
  readonly number: number;
  readonly hash: string;
  readonly transactions: ReadonlySet<string>;
}

/**
 * Evidence of the nodes about a block.
 * - `proven`: the transactions in question that a recomputed block contains.
 * - `contradicted`: an answer does not fit the hash of the block, and no other one proves it.
 * - `unproven`: nothing can be said, because the block cannot be recomputed or read.
 * - `later`: the nodes have another block, or the look has used up its bytes. A later look asks again.
 */
export type BlockEvidence =
  | { readonly kind: 'proven'; readonly transactions: ReadonlyMap<string, ProvenTransaction> }
  | { readonly kind: 'contradicted' | 'unproven'; readonly reason: string }
  | { readonly kind: 'later' };

/** Blocks in a row without a proof from which on a single node is asked for each. */
const UNPROVEN_FROM = 8;

/**
 * Takes blocks of one chain from an index that has proven them. Reads and recomputes all others, asking one node after
 * another until one proves the block.
 */
export function blockEvidence({
  client: { id: chainId, nodes, contradictions },
  index,
  clock,
}: {
  readonly client: Pick<ChainClient, 'id' | 'nodes' | 'contradictions'>;
  readonly index: ProvenIndex | undefined;
  readonly clock: Clock;
}) {
  const ofIndex = indexedBlocks({ chainId, index, clock });
  const { prove, knowsRulesNear } = blockProver();
  let unprovenInARow = 0;

  async function ofNode({ raw, node }: RawNode, { number, hash, transactions }: BlockInQuestion) {
    try {
      const contents = await blockContents(raw, { number, hash: lowerCase(hash) });
      const proof = await prove(contents);
      if (proof.kind === 'contradiction' && !(await knowsRulesNear(number, at => proveAt(raw, at))))
        return { node, kind: 'unproven' as const, reason: proof.reason };
      if (proof.kind !== 'proven') return { node, ...proof };
      return {
        node,
        kind: proof.kind,
        transactions: await provenTransactions(contents, { chainId, hashes: transactions }),
      };
    } catch (error) {
      // The node is well: its answer is of a block that took the place of this one.
      if (error instanceof ChainMoved) return { node, kind: 'later' as const };
      if (error instanceof BaseError) throw error;
      return { node, kind: 'unproven' as const, reason: reasonOf(error) };
    }
  }

  /** Recomputes another block of a node. */
  async function proveAt(raw: RawNode['raw'], number: number): Promise<void> {
    const header = await raw({ method: 'eth_getBlockByNumber', params: [numberToHex(number), false] });
    if (header !== null && header.hash !== null)
      await prove(await blockContents(raw, { number, hash: header.hash }));
  }

  /** Leaves out a node that contradicted the hash of a block. */
  function leaveOut(node: ChainNode, found: { readonly block: number; readonly reason: string }): void {
    contradictions.leaveOut(nodes.indexOf(node), { node: node.host, ...found });
  }

  async function ask(view: Pick<NodeView, 'eachNode'>, block: BlockInQuestion): Promise<BlockEvidence> {
    let found: BlockEvidence = { kind: 'unproven', reason: 'no node was asked' };
    const otherHashes: { node: ChainNode; reason: string }[] = [];
    for (const one of view.eachNode()) {
      const answer = await one
        .askRaw(asked => ofNode(asked, block))
        .catch((error: unknown) =>
          // Any other error is the end of the look.
          error instanceof BaseError
            ? { kind: 'unproven' as const, reason: reasonOf(error) }
            : { kind: 'later' as const },
        );
      if (answer.kind === 'proven') {
        // The fields of a header that has this hash are known now, so that others are not those of the block.
        for (const { node, reason } of otherHashes) leaveOut(node, { block: block.number, reason });
        return answer;
      }
      if (answer.kind === 'contradiction') {
        leaveOut(answer.node, { block: block.number, reason: answer.reason });
        found = { kind: 'contradicted', reason: answer.reason };
      } else if (answer.kind === 'later') {
        if (found.kind !== 'contradicted') found = answer;
      } else {
        if (answer.kind === 'other-hash') otherHashes.push(answer);
        if (found.kind !== 'contradicted') found = { kind: 'unproven', reason: answer.reason };
        if (unprovenInARow >= UNPROVEN_FROM) break;
      }
    }
    return found;
  }

  return {
    /** Never rejects. */
    async of(view: Pick<NodeView, 'eachNode'>, block: BlockInQuestion): Promise<BlockEvidence> {
      const { number, hash, transactions: hashes } = block;
      const indexed = await ofIndex({ number, hash, hashes });
      if (indexed !== undefined) return { kind: 'proven', transactions: indexed };
      const found = await ask(view, block);
      if (found.kind === 'proven') unprovenInARow = 0;
      if (found.kind === 'unproven') unprovenInARow += 1;
      return found;
    },
    leaveOut,
  };
}

/** One line that says why an answer cannot be used. */
function reasonOf(error: unknown): string {
  if (error instanceof BaseError) return error.shortMessage;
  return error instanceof Error ? error.message : String(error);
}
