import type { Address, Hash } from 'viem';
import type { RpcBlock, RpcReceipt, RpcTransaction } from '#evm/rpc.ts';
import type { TransactionTrace } from '#evm/traces.ts';
import type { ChainClient } from '#node/client.ts';

/** Everything a node reports about one block, checked to belong together. */
export interface FetchedBlock {
  number: number;
  hash: Hash;
  block: RpcBlock;
  /** A receipt is null when the node could not give it. */
  transactions: { transaction: RpcTransaction; receipt: RpcReceipt | null }[];
  /** One per transaction, null where the node could not give it; null when the node does not trace. */
  traces: (TransactionTrace | null)[] | null;
  /** Accounts that transactions without a receipt or trace changed, as far as the node can name them. */
  touched: readonly Address[];
  /** First reason for which a receipt or trace is missing, for the operator; null when none is. */
  unreadable: string | null;
  /** True when the contents, apart from traces, were recomputed up to the hash of the block. */
  isProven: boolean;
}

/** A block, plus the code of the receivers of its transactions. */
export interface BlockWithReceiverCode extends FetchedBlock {
  receiversWithCode: ReadonlySet<Address>;
  /** Receivers whose code the node could not give. */
  receiversUnknown: ReadonlySet<Address>;
}

export interface BlockHeader {
  number: number;
  hash: Hash;
  parentHash: Hash;
}

/** One node, or several with failover. */
export type NodeCalls = Pick<ChainClient, 'id' | 'request'>;
