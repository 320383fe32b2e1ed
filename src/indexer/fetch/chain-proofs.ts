import type { BlockProof, Problem } from '#evm/proofs/block-proof.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { type BlockProver, blockProver, UNPROVEN_FROM } from '#node/block-prover.ts';

/** Least time between two warnings for one reason, and most reasons that are warned of in that time. */
const WARN_EVERY_MS = 3_600_000;
const MAX_REASONS = 20;

/** A block that is not stored, because all nodes contradict its hash. */
interface WaitingBlock {
  readonly number: number;
  /** Contradiction, as a sentence. */
  readonly reason: string;
}

/** Recomputes the blocks of one chain, and knows how that went for the new ones. */
export interface ChainProofs extends BlockProver {
  /**
   * Records the proof of a block that is to be stored, with a warning when there is none. Returns true when it is proven.
   */
  accept(number: number, proof: BlockProof): boolean;
  /** Records that a block is not stored. */
  refuse(block: WaitingBlock): void;
  /** False when so many blocks in a row did not fit their hashes that other nodes are not asked any more. */
  asksOthers(): boolean;
  /** Lowest refused block above a head; undefined when there is none. */
  waiting(head: number): WaitingBlock | undefined;
  /** Reason for which the chain counts as unproven; undefined while it does not. */
  unprovable(): string | undefined;
}

export function chainProofs({
  chainId,
  clock,
  log,
}: {
  chainId: number;
  clock: Clock;
  log: Logger;
}): ChainProofs {
  let refused: WaitingBlock | undefined;
  /** Newest blocks without a proof, and those of them that do not fit their hashes. */
  let [unproven, otherHashes] = [0, 0];
  let reason = '';
  const warned = new Map<string, number>();

  function warn(number: number, proof: Problem): void {
    const now = clock.now();
    for (const [known, at] of warned) if (Math.abs(now - at) >= WARN_EVERY_MS) warned.delete(known);
    if (warned.has(proof.reason) || warned.size >= MAX_REASONS) return;
    warned.set(proof.reason, now);
    log.warn({ chainId, block: number, reason: proof.reason }, 'a block is indexed without a proof');
  }

  return {
    ...blockProver(),
    accept(number, proof) {
      if (refused?.number === number) refused = undefined;
      if (proof.kind === 'proven') {
        [unproven, otherHashes] = [0, 0];
        return true;
      }
      unproven += 1;
      if (proof.kind !== 'unproven') otherHashes += 1;
      ({ reason } = proof);
      warn(number, proof);
      return false;
    },
    refuse(block) {
      if (refused === undefined || block.number <= refused.number) refused = block;
    },
    asksOthers: () => otherHashes < UNPROVEN_FROM,
    waiting(head) {
      if (refused !== undefined && refused.number <= head) refused = undefined;
      return refused;
    },
    unprovable: () => (unproven >= UNPROVEN_FROM ? reason : undefined),
  };
}
