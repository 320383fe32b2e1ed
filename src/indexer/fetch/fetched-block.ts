import type { Address, Hash } from 'viem';
import type { RpcBlock, RpcReceipt, RpcTransaction } from '../../evm/rpc.ts';
import type { TransactionTrace } from '../../evm/traces.ts';

/** Everything a node reports about one block, checked to belong together. */
export interface FetchedBlock {
  number: number;
  hash: Hash;
  block: RpcBlock;
  transactions: { transaction: RpcTransaction; receipt: RpcReceipt }[];
  /** One per transaction; null when the node does not trace. */
  traces: TransactionTrace[] | null;
}

/** A block, plus the receivers of its transactions that had code. */
export interface JudgedBlock extends FetchedBlock {
  receiversWithCode: ReadonlySet<Address>;
}

export interface Header {
  number: number;
  hash: Hash;
  parentHash: Hash;
}
