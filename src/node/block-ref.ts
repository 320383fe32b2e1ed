import type { Hash } from 'viem';

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
 * transactions, receipts or logs are at fault, and false for traces, which no hash commits to.
 */
export class ContradictoryBlock extends Error {
  readonly reason: string;
  readonly isOfContents: boolean;
  constructor(number: number, reason: string, { isOfContents = false } = {}) {
    super(`The node contradicts itself about block ${number}: ${reason}.`);
    this.name = 'ContradictoryBlock';
    this.reason = reason;
    this.isOfContents = isOfContents;
  }
}
