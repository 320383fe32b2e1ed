import type { Address, Hash, Hex } from 'viem';

/** The same as an integer. */
export function optionalBigInt(quantity: string | null | undefined): bigint | null {
  return quantity === null || quantity === undefined ? null : BigInt(quantity);
}

/** A block as nodes send it, with whole transactions or their hashes. Quantities are hexadecimal. */
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
  transactions: (Hash | RpcTransaction)[];
  withdrawals?: RpcWithdrawal[] | null;
}

/** A transaction of any type, in a block or in the pool. */
export interface RpcTransaction {
  /** Null while it waits in the pool. */
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
  authorizationList?: unknown[] | null;
  accessList?: unknown[] | null;
  r?: Hex | null;
  s?: Hex | null;
  v?: Hex | null;
  /** Of typed transactions, where it is `v` as well. */
  yParity?: Hex | null;
}

export interface RpcReceipt {
  transactionHash: Hash;
  blockHash: Hash;
  gasUsed: Hex;
  /** In the block, up to and with this transaction. */
  cumulativeGasUsed?: Hex | null;
  logsBloom?: Hex | null;
  effectiveGasPrice?: Hex | null;
  blobGasUsed?: Hex | null;
  blobGasPrice?: Hex | null;
  contractAddress?: Address | null;
  /** Absent before Byzantium, where receipts held a state root instead. */
  status?: Hex | null;
  logs: RpcLog[];
}

export interface RpcLog {
  address: Address;
  topics: Hex[];
  data: Hex;
  logIndex: Hex;
}

/** A withdrawal of the consensus layer; `amount` is in gwei. */
export interface RpcWithdrawal {
  index: Hex;
  validatorIndex: Hex;
  address: Address;
  amount: Hex;
}
