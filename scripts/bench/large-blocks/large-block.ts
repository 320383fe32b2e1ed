import { type Address, type Hash, type Hex, numberToHex, pad, toEventSelector } from 'viem';
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
const BLOOM: Hex = `0x${'0'.repeat(512)}`;

/** A block, with the parts that a node gives by other methods. */
export interface LargeBlock {
  readonly block: RpcBlock;
  readonly receipts: readonly RpcReceipt[];
  readonly traces: readonly RpcParityTrace[];
}

/** Block of a simulated chain: calls of tokens that each transfer twice, and call another contract. */
export function largeBlock(number: number): LargeBlock {
  const hash = hashOf('b10c', number);
  const at = { blockHash: hash, blockNumber: numberToHex(number) };
  const places = Array.from({ length: TRANSACTIONS }, (_, place) => number * TRANSACTIONS + place);
  return {
    block: {
      number: numberToHex(number),
      hash,
      parentHash: number === 0 ? ZERO_WORD : hashOf('b10c', number - 1),
      timestamp: numberToHex(START_SECONDS + number * BLOCK_SECONDS),
      miner: accountAt(number),
      gasLimit: '0x2255100',
      gasUsed: '0x1c9c380',
      baseFeePerGas: '0x3b9aca00',
      difficulty: '0x0',
      nonce: '0x0000000000000000',
      extraData: '0x',
      stateRoot: ZERO_WORD,
      logsBloom: BLOOM,
      size: '0x4b000',
      uncles: [],
      withdrawals: [],
      transactions: places.map(place => ({ ...transactionAt(place), ...at })),
    },
    receipts: places.map((place, index) => ({ ...receiptAt(place, index), ...at })),
    traces: places.flatMap((place, index) => tracesAt(place).map(one => traceOf(one, { place, index, at }))),
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
    hash: hashOf('7a', place),
    from: accountAt(place),
    to: tokenAt(place),
    nonce: numberToHex(Math.floor(place / ACCOUNTS)),
    gas: '0x30d40',
    value: '0x0',
    input: inputAt(place, INPUT_BYTES),
    type: '0x2',
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

function receiptAt(place: number, index: number): Omit<RpcReceipt, 'blockHash'> {
  return {
    transactionHash: hashOf('7a', place),
    gasUsed: '0x249f0',
    cumulativeGasUsed: numberToHex((index + 1) * 150_000),
    effectiveGasPrice: '0x77359400',
    status: '0x1',
    logsBloom: BLOOM,
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
  { place, index, at }: { place: number; index: number; at: { blockHash: Hash; blockNumber: Hex } },
): RpcParityTrace {
  return {
    type: 'call',
    action: { callType: 'call', from, to, gas: '0x20000', value: '0x0', input: inputAt(place, TRACED_BYTES) },
    result: { gasUsed: '0x5208', output: '0x' },
    subtraces,
    traceAddress,
    transactionHash: hashOf('7a', place),
    transactionPosition: index,
    blockHash: at.blockHash,
  };
}
