import { setImmediate } from 'node:timers/promises';
import type { BlockContents, BlockProof } from '../evm/proofs/block-proof.ts';
import { proveBlock } from '../evm/proofs/prove-block.ts';
import { reasonOf } from '../lib/startup-error.ts';

/** Blocks in a row without a proof from which on a chain counts as one that cannot be recomputed (Decision 381). */
export const UNPROVEN_FROM = 8;

/** Most blocks on each side of a block that are read to learn the rules of a chain. */
const NEAR = 8;

/**
 * Recomputes the blocks of one chain, and learns the rules by which it hashes them. Until a block with transactions was
 * proven, a block that contradicts its hash may follow a rule that is not known here, and is no fault of a node (Decision
 * 380).
 */
export interface BlockProver {
  /** Recomputes a block, and learns from it. One at a time, and the process does other work in between. Never rejects. */
  prove(contents: BlockContents): Promise<BlockProof>;
  /** The same for a block that one node invented perhaps: it teaches nothing (Decision 371). */
  recompute(contents: BlockContents): Promise<BlockProof>;
  /** True once a block with transactions was proven. */
  knowsRules(): boolean;
  /**
   * The same after up to eight blocks on each side of this one were read, once for the chain. `read` reads and proves a
   * block, and rejects when it cannot.
   */
  knowsRulesNear(number: number, read: (number: number) => Promise<unknown>): Promise<boolean>;
}

export function blockProver(): BlockProver {
  let last: Promise<unknown> = Promise.resolve();
  let isKnown = false;
  let reading: Promise<void> | undefined;

  async function recomputed(contents: BlockContents): Promise<BlockProof> {
    if (contents.transactions.length > 0) await setImmediate();
    try {
      return await proveBlock(contents);
    } catch (error) {
      // An answer of a form that no block has must not stop the chain.
      return { kind: 'other-hash', reason: reasonOf(error) };
    }
  }

  async function readNear(number: number, read: (number: number) => Promise<unknown>): Promise<void> {
    for (let distance = 1; distance <= NEAR; distance += 1) {
      for (const next of [number - distance, number + distance]) {
        if (isKnown) return;
        // A block that cannot be read teaches nothing.
        if (next >= 0) await read(next).catch(() => undefined);
      }
    }
  }

  function recompute(contents: BlockContents): Promise<BlockProof> {
    const proof = last.then(() => recomputed(contents));
    last = proof;
    return proof;
  }

  return {
    async prove(contents) {
      const proof = await recompute(contents);
      isKnown ||= proof.kind === 'proven' && contents.transactions.length > 0;
      return proof;
    },
    recompute,
    knowsRules: () => isKnown,
    async knowsRulesNear(number, read) {
      if (!isKnown) {
        reading ??= readNear(number, read);
        await reading;
      }
      return isKnown;
    },
  };
}
