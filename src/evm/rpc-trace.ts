import type { Address, Hash, Hex } from 'viem';

/** One entry of `trace_transaction` with everything that nodes put into it. */
export interface RpcFullTrace {
  type: string;
  action: {
    callType?: string;
    creationMethod?: string;
    from?: Address;
    to?: Address;
    gas?: Hex;
    value?: Hex;
    input?: Hex;
    init?: Hex;
    address?: Address;
    balance?: Hex;
    refundAddress?: Address;
    author?: Address;
    rewardType?: string;
  };
  result?: { gasUsed?: Hex; output?: Hex; address?: Address; code?: Hex } | null;
  error?: string;
  subtraces: number;
  traceAddress: number[];
  transactionHash?: Hash;
  transactionPosition?: number | null;
  blockHash?: Hash;
  blockNumber?: number;
}

/** What geth's `prestateTracer` says of one account: only what the transaction touched. */
export interface RpcAccountState {
  balance?: Hex;
  nonce?: number;
  code?: Hex;
  storage?: Record<Hash, Hash>;
}

/** Accounts before and after a transaction; one that it removed is missing afterwards. */
export interface RpcStateDiff {
  pre: Record<Address, RpcAccountState>;
  post: Record<Address, RpcAccountState>;
}
