import { setImmediate } from 'node:timers/promises';
import type { BlockContents, BlockProof, Problem } from '#evm/proofs/block-proof.ts';
import { proveBlock } from '#evm/proofs/prove-block.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { type ChainRules, chainRules } from '#node/chain-rules.ts';
import { innermostReason } from './unreadable.ts';

/** Blocks in a row without a proof from which on the chain counts as unproven (Decision 381). */
const UNPROVEN_FROM = 8;
/** Least time between two warnings for one reason, and most reasons that are warned of in that time. */
const WARN_EVERY_MS = 3_600_000;
const MAX_REASONS = 20;

/** A block that is not stored, because all nodes contradict its hash. */
interface WaitingBlock {
  readonly number: number;
  /** Contradiction, as a sentence. */
  readonly reason: string;
}

/** Recomputes the blocks of one chain, and knows how that went. The sync and the refill of an index share it. */
export interface ChainProofs {
  readonly rules: ChainRules;
  /** Recomputes a block. One at a time, and the process does other work in between. Never rejects. */
  prove(contents: BlockContents): Promise<BlockProof>;
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
  const rules = chainRules();
  let last: Promise<unknown> = Promise.resolve();
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
    rules,
    prove(contents) {
      const proof = last.then(async (): Promise<BlockProof> => {
        if (contents.transactions.length > 0) await setImmediate();
        try {
          const found = await proveBlock(contents);
          if (found.kind === 'proven' && contents.transactions.length > 0) rules.learned();
          return found;
        } catch (error) {
          // An answer of a form that no block has must not stop the chain.
          return { kind: 'unproven', reason: innermostReason(error) };
        }
      });
      last = proof;
      return proof;
    },
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
