import { type Address, bytesToHex, type Hash, type Hex, numberToHex, pad, toEventSelector } from 'viem';
import { keccak } from '#evm/proofs/bytes.ts';
import { encodedHeader } from '#evm/proofs/header-encoding.ts';
import { rootOf } from '#evm/proofs/ordered-trie.ts';
import { computedBloom, encodedReceipt } from '#evm/proofs/receipt-encoding.ts';
import { encodedTransaction } from '#evm/proofs/transaction-encoding.ts';
import type { RpcBlock, RpcLog, RpcParityTrace, RpcReceipt, RpcTransaction } from '#evm/rpc.ts';
import { hashOf } from '../growth/synthetic-block.ts';

/** Transactions, and logs of each, of a block as large as mainnet's: about 600 KiB of JSON with its transactions. */
const TRANSACTIONS = 200;
const LOGS_PER_TRANSACTION = 2;
/** Bytes of the input of a transaction. */
const INPUT_BYTES = 1_220;
/** Bytes of the input of an inner call. */
const TRACED_BYTES = 68;
export const CHAIN_ID = 31_337;
/** Beginning of the address of each token. */
export const TOKEN_PREFIX = '0x70';
const ACCOUNTS = 2_000;
const TOKENS = 100;
const BLOCK_SECONDS = 12;
const START_SECONDS = 1_700_000_000;
const TRANSFER = toEventSelector('Transfer(address,address,uint256)');
const ZERO_WORD: Hash = `0x${'0'.repeat(64)}`;
/** Type of each transaction. Source: EIP-1559. */
const TYPE = 2;
const EMPTY = new Uint8Array(0);

/** A block, with the parts that a node gives by other methods. */
export interface LargeBlock {
  readonly block: Omit<RpcBlock, 'transactions'> & { hash: Hash; transactions: RpcTransaction[] };
  readonly receipts: readonly RpcReceipt[];
  readonly traces: readonly RpcParityTrace[];
}

/**
 * Blocks of a simulated chain, whose hashes are those of their contents: calls of tokens that each transfer twice, and
 * call another contract.
 */
export function largeChain(count: number): LargeBlock[] {
  const chain: LargeBlock[] = [];
  for (let number = 0; number < count; number += 1)
    chain.push(largeBlock(number, chain.at(-1)?.block.hash ?? ZERO_WORD));
  return chain;
}

function largeBlock(number: number, parentHash: Hash): LargeBlock {
  const places = Array.from({ length: TRANSACTIONS }, (_, place) => number * TRANSACTIONS + place);
  const transactions = places.map(transactionAt);
  const encoded = transactions.map(one => encodedTransaction(one) ?? EMPTY);
  const hashes = encoded.map(one => bytesToHex(keccak(one)));
  const receipts = places.map(receiptAt);
  const header: RpcBlock = {
    number: numberToHex(number),
    hash: null,
    parentHash,
    timestamp: numberToHex(START_SECONDS + number * BLOCK_SECONDS),
    miner: accountAt(number),
    gasLimit: '0x2255100',
    gasUsed: '0x1c9c380',
    baseFeePerGas: '0x3b9aca00',
    difficulty: '0x0',
    nonce: '0x0000000000000000',
    extraData: '0x',
    stateRoot: ZERO_WORD,
    sha3Uncles: ZERO_WORD,
    mixHash: ZERO_WORD,
    transactionsRoot: bytesToHex(rootOf(encoded)),
    receiptsRoot: bytesToHex(rootOf(receipts.map(one => encodedReceipt(TYPE, one, computedBloom(one.logs))))),
    logsBloom: bytesToHex(computedBloom(receipts.flatMap(({ logs }) => logs))),
    withdrawalsRoot: bytesToHex(rootOf([])),
    size: '0x4b000',
    uncles: [],
    withdrawals: [],
    transactions: [],
  };
  const hash = bytesToHex(keccak(encodedHeader(header)));
  const at = { blockHash: hash, blockNumber: numberToHex(number) };
  const hashAt = (index: number) => hashes[index] ?? ZERO_WORD;
  return {
    block: {
      ...header,
      hash,
      transactions: transactions.map((one, index) => ({ ...one, ...at, hash: hashAt(index) })),
    },
    receipts: receipts.map((one, index) => ({ ...one, ...at, transactionHash: hashAt(index) })),
    traces: places.flatMap((place, index) =>
      tracesAt(place).map(one => traceOf(one, { place, index, at, transactionHash: hashAt(index) })),
    ),
  };
}

function accountAt(place: number): Address {
  return addressOf('ad', place % ACCOUNTS);
}

function tokenAt(place: number): Address {
  return addressOf('70', place % TOKENS);
}

function addressOf(kind: string, number: number): Address {
  return `0x${kind}${number.toString(16).padStart(40 - kind.length, '0')}`;
}

/** Input of a call of `transfer(address,uint256)`, followed by further words. */
function inputAt(place: number, bytes: number): Hex {
  const word = (place + 1).toString(16).padStart(64, '0');
  return `0xa9059cbb${word.repeat(Math.ceil(bytes / 32)).slice(0, 2 * bytes - 8)}`;
}

function transactionAt(place: number): RpcTransaction {
  return {
    hash: ZERO_WORD,
    from: accountAt(place),
    to: tokenAt(place),
    nonce: numberToHex(Math.floor(place / ACCOUNTS)),
    gas: '0x30d40',
    value: '0x0',
    input: inputAt(place, INPUT_BYTES),
    type: numberToHex(TYPE),
    chainId: numberToHex(CHAIN_ID),
    gasPrice: '0x77359400',
    maxFeePerGas: '0xb2d05e00',
    maxPriorityFeePerGas: '0x3b9aca00',
    accessList: [],
    r: hashOf('11', place),
    s: hashOf('55', place),
    v: '0x1',
    yParity: '0x1',
  };
}

function receiptAt(place: number, index: number): RpcReceipt {
  return {
    transactionHash: ZERO_WORD,
    blockHash: ZERO_WORD,
    gasUsed: '0x249f0',
    cumulativeGasUsed: numberToHex((index + 1) * 150_000),
    effectiveGasPrice: '0x77359400',
    status: '0x1',
    logs: Array.from({ length: LOGS_PER_TRANSACTION }, (_, log) =>
      transferAt(place, { step: log, logIndex: index * LOGS_PER_TRANSACTION + log }),
    ),
  };
}

function transferAt(place: number, { step, logIndex }: { step: number; logIndex: number }): RpcLog {
  return {
    address: tokenAt(place + step),
    topics: [TRANSFER, pad(accountAt(place)), pad(accountAt(place * 7 + step + 1))],
    data: pad(numberToHex(place + 1)),
    logIndex: numberToHex(logIndex),
  };
}

interface Call {
  readonly from: Address;
  readonly to: Address;
  readonly traceAddress: number[];
  readonly subtraces: number;
}

function tracesAt(place: number): Call[] {
  const token = tokenAt(place);
  return [
    { from: accountAt(place), to: token, traceAddress: [], subtraces: 2 },
    { from: token, to: tokenAt(place + 1), traceAddress: [0], subtraces: 0 },
    { from: token, to: accountAt(place + 1), traceAddress: [1], subtraces: 0 },
  ];
}

function traceOf(
  { from, to, traceAddress, subtraces }: Call,
  {
    place,
    index,
    at,
    transactionHash,
  }: { place: number; index: number; at: { blockHash: Hash }; transactionHash: Hash },
): RpcParityTrace {
  return {
    type: 'call',
    action: { callType: 'call', from, to, gas: '0x20000', value: '0x0', input: inputAt(place, TRACED_BYTES) },
    result: { gasUsed: '0x5208', output: '0x' },
    subtraces,
    traceAddress,
    transactionHash,
    transactionPosition: index,
    blockHash: at.blockHash,
  };
}
