import type { Address, Hash, Hex } from 'viem';
import type { RpcBlock, RpcReceipt, RpcTransaction } from './rpc-block.ts';
import type { RpcFullTrace, RpcStateDiff } from './rpc-trace.ts';

/** One frame of geth's `callTracer`, as nodes send it. */
export interface RpcCallFrame {
  type: string;
  from: Address;
  to?: Address;
  value?: Hex;
  gas?: Hex;
  gasUsed?: Hex;
  input?: Hex;
  output?: Hex;
  error?: string;
  calls?: RpcCallFrame[];
}

/** One entry of the Parity/OpenEthereum `trace_block`. */
export interface RpcParityTrace {
  type: string;
  action: {
    callType?: string;
    creationMethod?: string;
    from?: Address;
    to?: Address;
    value?: Hex;
    gas?: Hex;
    address?: Address;
    refundAddress?: Address;
    balance?: Hex;
  };
  result?: { gasUsed?: Hex; output?: Hex; address?: Address } | null;
  error?: string;
  blockHash?: Hash;
  traceAddress: number[];
  transactionPosition?: number | null;
}

type Tracer = { tracer: 'callTracer' };
type DiffTracer = { tracer: 'prestateTracer'; tracerConfig: { diffMode: true } };
export type RpcBlockTraces = { txHash?: Hash; result?: RpcCallFrame; error?: string }[];

/** The methods asked of a node in raw form, so that the index keeps exactly what the node said. */
export type ChainRpcSchema = [
  { Method: 'eth_chainId'; Parameters?: undefined; ReturnType: Hex },
  {
    Method: 'eth_getBlockByNumber';
    Parameters: [block: Hex | 'latest' | 'pending' | 'finalized', withTransactions: boolean];
    ReturnType: RpcBlock | null;
  },
  { Method: 'eth_getBlockReceipts'; Parameters: [block: Hex]; ReturnType: RpcReceipt[] | null },
  { Method: 'eth_getTransactionByHash'; Parameters: [hash: Hash]; ReturnType: RpcTransaction | null },
  { Method: 'eth_getTransactionReceipt'; Parameters: [hash: Hash]; ReturnType: RpcReceipt | null },
  { Method: 'debug_traceBlockByHash'; Parameters: [hash: Hash, tracer: Tracer]; ReturnType: RpcBlockTraces },
  {
    Method: 'debug_traceBlockByNumber';
    Parameters: [block: Hex, tracer: Tracer];
    ReturnType: RpcBlockTraces;
  },
  { Method: 'trace_block'; Parameters: [block: Hex]; ReturnType: RpcParityTrace[] | null },
  { Method: 'trace_transaction'; Parameters: [hash: Hash]; ReturnType: RpcFullTrace[] | null },
  {
    Method: 'trace_replayTransaction';
    Parameters: [hash: Hash, kinds: ['trace']];
    ReturnType: { trace: RpcFullTrace[] } | null;
  },
  {
    Method: 'debug_traceTransaction';
    Parameters: [hash: Hash, tracer: Tracer | DiffTracer];
    ReturnType: RpcCallFrame | RpcStateDiff;
  },
  { Method: 'eth_call'; Parameters: [call: { to: Address; data: Hex }, block: Hex]; ReturnType: Hex },
  { Method: 'eth_getBalance'; Parameters: [address: Address, block: Hex]; ReturnType: Hex },
  { Method: 'eth_getCode'; Parameters: [address: Address, block: Hex | 'latest']; ReturnType: Hex },
  {
    Method: 'txpool_content';
    Parameters?: undefined;
    ReturnType: Record<'pending' | 'queued', Record<Address, Record<string, RpcTransaction>>>;
  },
];
