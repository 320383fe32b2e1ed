import type { Address, Hash, Hex } from 'viem';

/** Block as sent by nodes, with full transactions or their hashes. Quantities are hexadecimal. */
export interface RpcBlock {
  number: Hex | null;
  hash: Hash | null;
  parentHash: Hash;
  timestamp: Hex;
  miner?: Address | null;
  gasLimit: Hex;
  gasUsed: Hex;
  baseFeePerGas?: Hex | null;
  difficulty?: Hex | null;
  totalDifficulty?: Hex | null;
  nonce?: Hex | null;
  extraData: Hex;
  stateRoot: Hash;
  sha3Uncles?: Hash | null;
  mixHash?: Hash | null;
  transactionsRoot?: Hash | null;
  receiptsRoot?: Hash | null;
  logsBloom?: Hex | null;
  /** Since EIP-4895. */
  withdrawalsRoot?: Hash | null;
  size?: Hex | null;
  uncles?: Hash[];
  blobGasUsed?: Hex | null;
  excessBlobGas?: Hex | null;
  /** Since EIP-4788. */
  parentBeaconBlockRoot?: Hash | null;
  /** Since EIP-7685. */
  requestsHash?: Hash | null;
  /** Since EIP-7928. */
  blockAccessListHash?: Hash | null;
  /** Since EIP-7843. */
  slotNumber?: Hex | null;
  transactions: (Hash | RpcTransaction)[];
  withdrawals?: RpcWithdrawal[] | null;
}

/** Transaction of any type, in a block or in the pool. */
export interface RpcTransaction {
  /** Null while the transaction is pending. */
  blockHash?: Hash | null;
  blockNumber?: Hex | null;
  hash: Hash;
  from: Address;
  to?: Address | null;
  nonce: Hex;
  gas: Hex;
  value: Hex;
  input: Hex;
  type?: Hex | null;
  gasPrice?: Hex | null;
  maxFeePerGas?: Hex | null;
  maxPriorityFeePerGas?: Hex | null;
  maxFeePerBlobGas?: Hex | null;
  blobVersionedHashes?: Hash[] | null;
  authorizationList?: RpcAuthorization[] | null;
  accessList?: { address: Address; storageKeys: readonly Hash[] }[] | null;
  r?: Hex | null;
  s?: Hex | null;
  v?: Hex | null;
  /** Only on typed transactions, where it equals `v`. */
  yParity?: Hex | null;
  chainId?: Hex | null;
  /** Of deposits of OP-stack chains, as the next two. */
  sourceHash?: Hash | null;
  mint?: Hex | null;
  isSystemTx?: boolean | null;
  /** Of types of Arbitrum Nitro, as all that follow. */
  requestId?: Hash | null;
  ticketId?: Hash | null;
  maxRefund?: Hex | null;
  submissionFeeRefund?: Hex | null;
  refundTo?: Address | null;
  l1BaseFee?: Hex | null;
  depositValue?: Hex | null;
  retryTo?: Address | null;
  retryValue?: Hex | null;
  retryData?: Hex | null;
  beneficiary?: Address | null;
  maxSubmissionFee?: Hex | null;
}

/** Permission of an account to run a contract's code. Source: EIP-7702. */
interface RpcAuthorization {
  chainId: Hex;
  address: Address;
  nonce: Hex;
  yParity: Hex;
  r: Hex;
  s: Hex;
}

export interface RpcReceipt {
  transactionHash: Hash;
  blockHash: Hash;
  gasUsed: Hex;
  /** Gas used in the block up to and including this transaction. */
  cumulativeGasUsed?: Hex | null;
  logsBloom?: Hex | null;
  effectiveGasPrice?: Hex | null;
  blobGasUsed?: Hex | null;
  blobGasPrice?: Hex | null;
  contractAddress?: Address | null;
  /** Absent before Byzantium, where receipts held a state root instead. */
  status?: Hex | null;
  root?: Hash | null;
  /** Of deposits of OP-stack chains, as the next one. */
  depositNonce?: Hex | null;
  depositReceiptVersion?: Hex | null;
  logs: RpcLog[];
}

export interface RpcLog {
  address: Address;
  topics: Hex[];
  data: Hex;
  logIndex: Hex;
}

/** A log as `eth_getLogs` lists it. */
interface RpcLogInBlock extends RpcLog {
  blockHash: Hash | null;
  blockNumber: Hex | null;
  transactionHash: Hash | null;
  removed?: boolean;
}

/** A withdrawal of the consensus layer; `amount` is in gwei. */
export interface RpcWithdrawal {
  index: Hex;
  validatorIndex: Hex;
  address: Address;
  amount: Hex;
}

/** One frame of geth's `callTracer`, as sent by nodes. */
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

/** The state at the end of a block, which may be named by its hash. Source: EIP-1898. */
export type StateAt = Hex | 'latest' | { blockHash: Hash; requireCanonical: boolean };

type Tracer = { tracer: 'callTracer' };
type DiffTracer = { tracer: 'prestateTracer'; tracerConfig: { diffMode: true } };
export type RpcBlockTraces = { txHash?: Hash; result?: RpcCallFrame; error?: string }[];

/** Methods that are called in raw form, so that the index stores exactly what the node returned. */
export type ChainRpcSchema = [
  { Method: 'eth_chainId'; Parameters?: undefined; ReturnType: Hex },
  {
    Method: 'eth_getBlockByNumber';
    Parameters: [block: Hex | 'latest' | 'pending' | 'finalized', withTransactions: boolean];
    ReturnType: RpcBlock | null;
  },
  {
    Method: 'eth_getBlockByHash';
    Parameters: [block: Hash, withTransactions: boolean];
    ReturnType: RpcBlock | null;
  },
  {
    Method: 'eth_getLogs';
    Parameters: [filter: { fromBlock: Hex; toBlock: Hex; address: Address[]; topics: (Hex | Hex[])[] }];
    ReturnType: RpcLogInBlock[];
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
  { Method: 'trace_transaction'; Parameters: [hash: Hash]; ReturnType: RpcParityTrace[] | null },
  {
    Method: 'trace_replayTransaction';
    Parameters: [hash: Hash, kinds: ['trace']];
    ReturnType: { trace: RpcParityTrace[] } | null;
  },
  {
    Method: 'debug_traceTransaction';
    Parameters: [hash: Hash, tracer: Tracer | DiffTracer];
    ReturnType: RpcCallFrame | RpcStateDiff;
  },
  {
    Method: 'eth_call';
    Parameters: [call: { to: Address; data: Hex; gas?: Hex }, block: StateAt];
    ReturnType: Hex;
  },
  {
    Method: 'eth_getBalance';
    Parameters: [address: Address, block: StateAt];
    ReturnType: Hex;
  },
  {
    Method: 'eth_getProof';
    Parameters: [address: Address, slots: Hash[], block: StateAt];
    ReturnType: { accountProof: Hex[] };
  },
  { Method: 'eth_getCode'; Parameters: [address: Address, block: Hex | 'latest']; ReturnType: Hex },
  {
    Method: 'eth_getStorageAt';
    Parameters: [address: Address, slot: Hex, block: Hex | 'latest'];
    ReturnType: Hex;
  },
  { Method: 'eth_estimateGas'; Parameters: [call: { to: Address; data: Hex }]; ReturnType: Hex },
  { Method: 'eth_gasPrice'; Parameters?: undefined; ReturnType: Hex },
  {
    Method: 'txpool_content';
    Parameters?: undefined;
    ReturnType: Record<'pending' | 'queued', Record<Address, Record<string, RpcTransaction>>>;
  },
];

/** One entry of the Parity traces (`trace_block`, `trace_transaction`), with all fields that nodes send. */
export interface RpcParityTrace {
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

/** One account in the output of geth's `prestateTracer`: only the parts that the transaction touched. */
interface RpcAccountState {
  balance?: Hex;
  nonce?: number;
  code?: Hex;
  storage?: Record<Hash, Hash>;
}

/** Accounts before and after a transaction. An account that it removed is missing in `post`. */
interface RpcStateDiff {
  pre: Record<Address, RpcAccountState>;
  post: Record<Address, RpcAccountState>;
}

/** Parses an optional quantity. */
export function optionalBigInt(quantity: string | null | undefined): bigint | null {
  return quantity === null || quantity === undefined ? null : BigInt(quantity);
}
