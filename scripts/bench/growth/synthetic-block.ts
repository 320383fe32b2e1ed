import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  type Hash,
  type Hex,
  numberToHex,
  pad,
  toEventSelector,
} from 'viem';
import type { RpcLog, RpcReceipt, RpcTransaction } from '#evm/rpc.ts';
import type { BlockWithReceiverCode } from '#indexer/fetch/fetched-block.ts';

/** Address that occurs in every block, so that its lists grow with the chain. */
export const BUSY: Address = `0x${'b5'.repeat(20)}`;
export const NFT: Address = addressOf('c7', 1);
const SPLITTER: Address = addressOf('5b', 1);
const ZERO: Address = `0x${'0'.repeat(40)}`;
const ZERO_WORD: Hash = `0x${'0'.repeat(64)}`;

/**
 * Blocks until a new token appears. The tokens of 1,000 blocks fill the longest page, so answers of a longer chain are
 * not longer.
 */
const BLOCKS_PER_TOKEN = 3;
const BLOCK_SECONDS = 12;
const START_SECONDS = 1_700_000_000;

const TRANSFER = toEventSelector('Transfer(address,address,uint256)');

export function hashOf(kind: string, number: number): Hash {
  return `0x${kind}${number.toString(16).padStart(64 - kind.length, '0')}`;
}

function addressOf(kind: string, number: number): Address {
  return `0x${kind}${number.toString(16).padStart(40 - kind.length, '0')}`;
}

/** Token that is transferred in a block. */
export function tokenAt(number: number): Address {
  return addressOf('70', number % (Math.floor(number / BLOCKS_PER_TOKEN) + 1));
}

/**
 * One block of a simulated chain: an ERC-20 transfer, a new NFT and a payment through a contract, each by or to `BUSY`,
 * and a withdrawal. Every block adds a new address.
 */
export function syntheticBlock(number: number): BlockWithReceiverCode {
  const hash = hashOf('b10c', number);
  const stranger = addressOf('ad', number);
  const token = tokenAt(number);
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [stranger, 5n] });
  const calls = [
    { to: token, input: transfer, logs: [transferLog(token, BUSY, stranger, { amount: 5n })] },
    { to: NFT, input: '0x6a627842' as const, logs: [transferLog(NFT, ZERO, BUSY, { id: BigInt(number) })] },
    { to: SPLITTER, input: '0x' as const, logs: [] },
  ];
  return {
    number,
    hash,
    block: {
      number: numberToHex(number),
      hash,
      parentHash: number === 0 ? ZERO_WORD : hashOf('b10c', number - 1),
      timestamp: numberToHex(START_SECONDS + number * BLOCK_SECONDS),
      miner: BUSY,
      gasLimit: '0x1c9c380',
      gasUsed: numberToHex(63_000),
      baseFeePerGas: '0x3b9aca00',
      difficulty: '0x0',
      nonce: '0x0000000000000000',
      extraData: '0x',
      stateRoot: ZERO_WORD,
      size: '0x400',
      uncles: [],
      transactions: [],
      withdrawals: [
        { index: numberToHex(number), validatorIndex: '0x1', address: BUSY, amount: numberToHex(1_000_000) },
      ],
    },
    transactions: calls.map(({ to, input, logs }, position) => {
      const id = hashOf('7a', number * calls.length + position);
      return {
        transaction: transactionOf({ hash: id, to, input, number }),
        receipt: receiptOf({
          transactionHash: id,
          blockHash: hash,
          logs: logs.map(log => ({ ...log, logIndex: numberToHex(position) })),
        }),
      };
    }),
    touched: [],
    unreadable: null,
    isProven: false,
    receiversUnknown: new Set(),
    receiversWithCode: new Set(calls.map(({ to }) => to)),
    traces: calls.map(({ to }) => ({
      error: null,
      output: null,
      calls: to === SPLITTER ? [innerCall(SPLITTER, stranger), innerCall(SPLITTER, BUSY)] : [],
    })),
  };
}

function transactionOf({
  hash,
  to,
  input,
  number,
}: {
  hash: Hash;
  to: Address;
  input: Hex;
  number: number;
}): RpcTransaction {
  return {
    hash,
    from: BUSY,
    to,
    nonce: numberToHex(number),
    gas: '0x186a0',
    value: to === SPLITTER ? '0x64' : '0x0',
    input,
    type: '0x2',
    gasPrice: '0x77359400',
    maxFeePerGas: '0xb2d05e00',
    maxPriorityFeePerGas: '0x3b9aca00',
  };
}

function receiptOf(parts: Pick<RpcReceipt, 'transactionHash' | 'blockHash' | 'logs'>): RpcReceipt {
  return { ...parts, gasUsed: numberToHex(21_000), effectiveGasPrice: '0x77359400', status: '0x1' };
}

/** Log of a transfer. ERC-20 has the amount in its data, ERC-721 the id in a fourth topic. */
function transferLog(
  address: Address,
  from: Address,
  to: Address,
  what: { amount: bigint } | { id: bigint },
): Omit<RpcLog, 'logIndex'> {
  const word = (value: bigint) => encodeAbiParameters([{ type: 'uint256' }], [value]);
  const parties: Hex[] = [TRANSFER, pad(from), pad(to)];
  return 'id' in what
    ? { address, topics: [...parties, word(what.id)], data: '0x' }
    : { address, topics: parties, data: word(what.amount) };
}

function innerCall(from: Address, to: Address) {
  return {
    type: 'call',
    from,
    to,
    createdContract: null,
    value: 50n,
    gasLimit: 2_300n,
    gasUsed: 0n,
    error: null,
    isUndone: false,
  };
}
