import type { Hash } from 'viem';
import { plainLine } from '../lib/single-line.ts';

/** A block about which a node is asked, with its transactions in their order. */
export interface BlockRef {
  readonly number: number;
  readonly hash: Hash;
  readonly transactions: readonly Hash[];
}

/** Thrown when the node's answers belong to two different blocks because its chain changed in between. Retryable. */
export class ChainMoved extends Error {
  constructor(number: number) {
    super(`Block ${number} changed while it was being fetched.`);
    this.name = 'ChainMoved';
  }
}

/**
 * Thrown for an answer that cannot be true of any block. A retry or another node may help. `isOfContents` is true when
 * transactions, receipts or logs are at fault, or a value has no form that can be stored (Decision 384). It is false for
 * traces that do not fit the block, which no hash commits to.
 */
export class ContradictoryBlock extends Error {
  readonly reason: string;
  readonly isOfContents: boolean;
  constructor(number: number, reason: string, { isOfContents = false } = {}) {
    // The reason may quote the node, which may have written a long text.
    const line = plainLine(reason);
    super(`The node contradicts itself about block ${number}: ${line}.`);
    this.name = 'ContradictoryBlock';
    this.reason = line;
    this.isOfContents = isOfContents;
  }
}

/** @throws ContradictoryBlock when a part of the block is malformed, as these words say */
export function assertWellFormed(number: number, malformed: string | undefined): void {
  if (malformed !== undefined) throw new ContradictoryBlock(number, malformed, { isOfContents: true });
}
