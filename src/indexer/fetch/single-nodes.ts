import { type Logger, logAndGoOn } from '#lib/logger.ts';
import type { ChainClient } from '#node/client.ts';
import { ContradictoryBlock } from '../../node/block-ref.ts';
import { type BlockBody, bodyReader } from './block-body.ts';
import { blockReader, type RecomputedBlock } from './block-reader.ts';
import type { ChainProofs } from './chain-proofs.ts';
import type { BlockHeader } from './fetched-block.ts';
import type { ReceiverCode } from './receiver-code.ts';

/** A block that one node sent whole. */
interface NodeAnswer {
  readonly position: number;
  readonly node: string;
  readonly block: RecomputedBlock;
}

interface SingleNodesDeps {
  readonly client: ChainClient;
  readonly code: Pick<ReceiverCode, 'prefetch'>;
  readonly proofs: ChainProofs;
  readonly log: Logger;
}

/**
 * Reads blocks whole from one node at a time, when the answers of several do not fit together or do not fit the chain.
 * Blocks are read one after another: the first one shows which node to leave out, and the others then ask it last.
 */
export function singleNodes({ client, code, proofs, log }: SingleNodesDeps) {
  const { id, nodes, contradictions } = client;
  let turn: Promise<unknown> = Promise.resolve();
  const readers = nodes.map(({ host, raw, verify }, position) => {
    const one = { id, request: raw };
    const reading = { client: one, code, proofs: { prove: proofs.recompute }, log };
    const [bodyOf, complete] = [bodyReader(one), blockReader(reading)];
    return {
      position,
      node: host,
      async read(number: number) {
        await verify();
        return complete(await bodyOf(number));
      },
    };
  });

  /** Answers of the nodes, those that are left out last. A node whose answer contradicts itself is left out. */
  async function* answers(number: number): AsyncGenerator<NodeAnswer> {
    const inOrder = readers.toSorted(
      (a, b) => Number(contradictions.isLeftOut(a.position)) - Number(contradictions.isLeftOut(b.position)),
    );
    for (const { position, node, read } of inOrder) {
      const block = await read(number).catch((error: unknown) => {
        if (error instanceof ContradictoryBlock && error.isOfContents)
          contradictions.leaveOut(position, { node, block: number, reason: error.reason });
        logAndGoOn(log, 'asking one node for a block')(error);
      });
      if (block !== undefined) yield { position, node, block };
    }
  }

  /** Leaves out nodes whose answers do not fit the hash of the block. */
  function leaveOutAll(wrong: readonly NodeAnswer[]): void {
    for (const { position, node, block } of wrong)
      contradictions.leaveOut(position, { node, block: block.number, reason: reasonOf(block) });
  }

  /**
   * The answers about the height of a block that could take its place, sorted by their proofs: those with its hash and, if
   * `isOther`, those after the same parent. Ends with the first proven one, if it is known by then which node is to be left
   * out.
   */
  async function sorted({ number, hash, block }: RecomputedBlock, { isOther }: { isOther: boolean }) {
    let [proven, unproven]: (RecomputedBlock | undefined)[] = [];
    const otherHash: NodeAnswer[] = [];
    const contradicting: NodeAnswer[] = [];
    for await (const answer of answers(number)) {
      const found = answer.block;
      if (found.proof.kind === 'contradiction') contradicting.push(answer);
      const isNext = isOther && found.block.parentHash === block.parentHash;
      if (found.hash !== hash && !isNext) continue;
      if (found.proof.kind === 'proven') proven ??= found;
      if (found.proof.kind === 'unproven') unproven ??= found;
      if (found.proof.kind === 'other-hash') otherHash.push(answer);
      const isNamed = otherHash.length + contradicting.length + contradictions.current().length > 0;
      if (proven !== undefined && isNamed) break;
    }
    return { proven, unproven, otherHash, contradicting };
  }

  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = turn.then(work);
    turn = result.catch(() => undefined);
    return result;
  }

  return {
    /**
     * Block of one node in place of one that could not be read: with the hash that the chain's header names, or, if
     * `isOther`, a proven one after the same parent. Undefined when no node has one.
     */
    async consistent(
      { number, block }: BlockBody,
      { known, isOther }: { known: BlockHeader | null; isOther: boolean },
    ): Promise<RecomputedBlock | undefined> {
      for await (const answer of answers(number)) {
        const { block: found } = answer;
        if (found.proof.kind === 'contradiction' && proofs.knowsRules()) leaveOutAll([answer]);
        const isNamed = found.hash === known?.hash && found.proof.kind !== 'contradiction';
        const isNext = found.block.parentHash === block.parentHash && found.proof.kind === 'proven';
        if (isNamed || (isOther && isNext)) return found;
      }
      return undefined;
    },

    /**
     * Answer of one node in place of a block whose contents do not fit its header.
     * @throws ContradictoryBlock when there is none: such a block is not stored
     */
    fitting(first: RecomputedBlock): Promise<RecomputedBlock> {
      return inTurn(async () => {
        const { proven, unproven, otherHash, contradicting } = await sorted(first, { isOther: true });
        leaveOutAll(contradicting);
        leaveOutAll(otherHash.filter(({ block }) => block.hash === first.hash));
        const found = proven ?? unproven;
        if (found !== undefined) return found;
        const { number } = first;
        const named = contradictions.current().map(({ node }) => node);
        const error = new ContradictoryBlock(number, `${reasonOf(first)} (${named.join(', ')})`);
        proofs.refuse({ number, reason: error.message });
        throw error;
      });
    },

    /**
     * Proven answer of one node with the hash of a block that does not fit it; else the block itself, because the chain may
     * have rules of its own. A block with another hash does not replace it: any node can invent one that fits its own hash
     * (Decision 371).
     */
    hashing(first: RecomputedBlock): Promise<RecomputedBlock> {
      return inTurn(async () => {
        if (!proofs.asksOthers()) return first;
        const { proven, otherHash, contradicting } = await sorted(first, { isOther: false });
        if (proven === undefined) return first;
        leaveOutAll([...otherHash, ...contradicting]);
        return proven;
      });
    },
  };
}

function reasonOf({ proof }: RecomputedBlock): string {
  return proof.kind === 'proven' ? '' : proof.reason;
}
