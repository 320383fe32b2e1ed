import type { Hash } from 'viem';
import type { ChainClient } from '../../node/client.ts';

/** One node, or several with failover. */
export type NodeCalls = Pick<ChainClient, 'id' | 'request'>;

/** A block whose receipts and traces are wanted. */
export interface BlockRef {
  number: number;
  hash: Hash;
  transactions: readonly Hash[];
}
