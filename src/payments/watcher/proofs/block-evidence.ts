import { BaseError, numberToHex } from 'viem';
import { lowerCase } from '#evm/address.ts';
import { proveBody } from '#evm/proofs/prove-block.ts';
import type { Clock } from '#lib/clock.ts';
import { type BlockWithoutReceipts, blockBody, blockContents, withReceipts } from '#node/block-contents.ts';
import { blockProver, UNPROVEN_FROM } from '#node/block-prover.ts';
import { ChainMoved } from '#node/block-ref.ts';
import type { ChainNode } from '#node/chain-node.ts';
import type { ChainClient } from '#node/client.ts';
import { AnswerTooLarge } from '#node/transport/errors.ts';
import type { RawNode } from '../node/node-pool.ts';
import type { NodeView } from '../node/node-view.ts';
import { type IndexedBlock, indexedBlocks, type ProvenIndex } from './indexed-blocks.ts';
import { type ProvenContents, provenTransactions } from './proven-transfers.ts';
import { bloomRule } from './watched-blooms.ts';

/** A block, and the transactions in it that payments are judged by. Hashes are lower case. */
export interface BlockInQuestion {
  readonly number: number;
  readonly hash: string;
  /** All when absent. */
  readonly transactions?: ReadonlySet<string> | undefined;
  /** Receivers of coins whose senders are in question, if all transactions are; each when absent. */
  readonly isReceiver?: (address: string) => boolean;
  /**
   * False when the bloom filter and the transactions of a block show that its receipts say nothing in question. All
   * receipts are read when absent.
   */
  readonly needsReceipts?: (body: BlockWithoutReceipts) => boolean;
}

/**
 * Evidence of the nodes about a block.
 * - `proven`: the transactions in question that a recomputed block contains.
 * - `contradicted`: an answer does not fit the hash of the block, and no other one proves it.
 * - `unproven`: nothing can be said. The cause is the `rules` of the chain, which are not known here, the `limits` of
 *   what is read, or a `node` that refuses or fails.
 * - `later`: the nodes have another block, or the look has used up its bytes. A later look asks again.
 */
export type BlockEvidence = ProvenContents | Contradicted | Unproven | { readonly kind: 'later' };

interface Contradicted {
  readonly kind: 'contradicted';
  readonly reason: string;
}

interface Unproven {
  readonly kind: 'unproven';
  readonly cause: 'rules' | 'limits' | 'node';
  readonly reason: string;
}

export type BlockEvidences = ReturnType<typeof blockEvidence>;

/** Time after which an index that is just behind is asked again. */
const INDEX_WAIT_MS = 300;
/** Time for which blocks of a chain that cannot be recomputed are not read for their own sake. */
const UNPROVABLE_MS = 10 * 60_000;

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
  const ofIndex = indexedBlocks({ chainId, index });
  const { prove, knowsRulesNear } = blockProver();
  const blooms = bloomRule();
  let unprovenInARow = 0;
  let restsUntil = Number.NEGATIVE_INFINITY;

  async function ofNode({ raw, node }: RawNode, block: BlockInQuestion) {
    const { number, transactions: hashes, isReceiver } = block;
    try {
      const ref = { number, hash: lowerCase(block.hash) };
      const body = await blockBody(raw, ref);
      const isEnough = blooms.holds() && block.needsReceipts?.(body) === false;
      if (isEnough && (await proveBody(body)).kind === 'proven')
        return { node, ...provenContents(body, number, new Map()) };
      const contents = await withReceipts(raw, ref, body);
      const proof = await prove(contents);
      if (proof.kind === 'contradiction' && !(await knowsRulesNear(number, at => proveAt(raw, at))))
        return { node, ...unproven('rules', proof.reason) };
      if (proof.kind === 'unproven') return { node, ...unproven('rules', proof.reason) };
      if (proof.kind === 'contradiction') return { node, kind: proof.kind, reason: proof.reason };
      if (proof.kind === 'other-hash') return { node, kind: proof.kind, reason: proof.reason };
      blooms.see(contents);
      const transactions = await provenTransactions(contents, { chainId, hashes, isReceiver });
      return { node, ...provenContents(contents, number, transactions) };
    } catch (error) {
      // The node is well: its answer is of a block that took the place of this one.
      if (error instanceof ChainMoved) return { node, kind: 'later' as const };
      if (error instanceof BaseError) throw error;
      return { node, ...unproven('rules', reasonOf(error)) };
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
    let found: Exclude<BlockEvidence, ProvenContents> = unproven('node', 'no node was asked');
    const otherHashes: { node: ChainNode; reason: string }[] = [];
    for (const [at, one] of view.eachNode().entries()) {
      const answer = await one.askRaw(asked => ofNode(asked, block)).catch(failed);
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
        const said = answer.kind === 'other-hash' ? unproven('rules', answer.reason) : answer;
        // A node that failed may prove the block later.
        const isKept =
          found.kind === 'contradicted' || (at > 0 && 'cause' in found && found.cause === 'node');
        if (!isKept) found = said;
        if (unprovenInARow >= UNPROVEN_FROM) break;
      }
    }
    return found;
  }

  /** Asks the nodes. Never rejects. */
  async function ofNodes(view: Pick<NodeView, 'eachNode'>, block: BlockInQuestion): Promise<BlockEvidence> {
    const found = await ask(view, block);
    if (found.kind === 'proven') unprovenInARow = 0;
    if (found.kind === 'unproven' && found.cause === 'rules') unprovenInARow += 1;
    return found;
  }

  return {
    hasIndex: index !== undefined,
    ofIndex,
    ofNodes,
    /** Asks the index, once more when it is just behind, and then the nodes. Never rejects. */
    async of(view: Pick<NodeView, 'eachNode'>, block: BlockInQuestion): Promise<BlockEvidence> {
      let indexed: IndexedBlock = await ofIndex(block);
      if (indexed.kind === 'behind' && indexed.isJustBehind) {
        await clock.sleep(INDEX_WAIT_MS);
        indexed = await ofIndex(block);
      }
      return indexed.kind === 'proven' ? indexed : ofNodes(view, block);
    },
    /** False for some minutes after so many blocks without a proof that the next one will have none either. */
    mayProve(): boolean {
      if (unprovenInARow < UNPROVEN_FROM) return true;
      if (clock.now() < restsUntil) return false;
      restsUntil = clock.now() + UNPROVABLE_MS;
      return true;
    },
    leaveOut,
  };
}

/** `later` for a block with another number, which a node shows in the place of this one. */
function provenContents(
  { block }: BlockWithoutReceipts,
  number: number,
  transactions: ProvenContents['transactions'],
): ProvenContents | { readonly kind: 'later' } {
  if (Number(block.number) !== number) return { kind: 'later' };
  const time = Number(block.timestamp) * 1_000;
  return { kind: 'proven', parentHash: block.parentHash.toLowerCase(), time, transactions };
}

function unproven(cause: Unproven['cause'], reason: string): Unproven {
  return { kind: 'unproven', cause, reason };
}

/** Any error that is not of a node is the end of the look. */
function failed(error: unknown): Unproven | { readonly kind: 'later' } {
  if (!(error instanceof BaseError)) return { kind: 'later' };
  const isTooLarge = error.walk(cause => cause instanceof AnswerTooLarge) !== null;
  return unproven(isTooLarge ? 'limits' : 'node', reasonOf(error));
}

/** One line that says why an answer cannot be used. */
function reasonOf(error: unknown): string {
  if (error instanceof BaseError) return error.shortMessage;
  return error instanceof Error ? error.message : String(error);
}
