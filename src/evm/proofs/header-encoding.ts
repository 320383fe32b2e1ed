import { bytesToBigInt, fromRlp } from 'viem';
import type { RpcBlock } from '../rpc.ts';
import { dataBytes, quantityBytes } from './bytes.ts';
import { type RlpItem, rlp } from './rlp.ts';

type HeaderField = readonly [name: keyof RpcBlock, kind: 'data' | 'quantity'];

/** Fields that each header has, in the order of its encoding. Source: yellow paper, section 4.4. */
const FIELDS: readonly HeaderField[] = [
  ['parentHash', 'data'],
  ['sha3Uncles', 'data'],
  ['miner', 'data'],
  ['stateRoot', 'data'],
  ['transactionsRoot', 'data'],
  ['receiptsRoot', 'data'],
  ['logsBloom', 'data'],
  ['difficulty', 'quantity'],
  ['number', 'quantity'],
  ['gasLimit', 'quantity'],
  ['gasUsed', 'quantity'],
  ['timestamp', 'quantity'],
  ['extraData', 'data'],
  ['mixHash', 'data'],
  ['nonce', 'data'],
];

/**
 * Fields that forks appended, in this order. A header has the first ones up to its fork. Sources: EIP-1559, 4895, 4844,
 * 4788, 7685, 7928 and 7843.
 */
const APPENDED: readonly HeaderField[] = [
  ['baseFeePerGas', 'quantity'],
  ['withdrawalsRoot', 'data'],
  ['blobGasUsed', 'quantity'],
  ['excessBlobGas', 'quantity'],
  ['parentBeaconBlockRoot', 'data'],
  ['requestsHash', 'data'],
  ['blockAccessListHash', 'data'],
  ['slotNumber', 'quantity'],
];

/** Fields of a block that are no fields of its header. */
const OUTSIDE: readonly (keyof RpcBlock)[] = [
  'hash',
  'size',
  'totalDifficulty',
  'transactions',
  'uncles',
  'withdrawals',
];

const KNOWN = new Set<string>([...[...FIELDS, ...APPENDED].map(([name]) => name), ...OUTSIDE]);

/** Encoding of the header of a block, whose hash is the hash of the block. */
export function encodedHeader(block: RpcBlock): Uint8Array {
  const appended = APPENDED.filter(([name]) => block[name] !== null && block[name] !== undefined);
  return rlp(
    [...FIELDS, ...appended].map(([name, kind]) => {
      const value = block[name];
      const text = typeof value === 'string' ? value : undefined;
      return kind === 'data' ? dataBytes(text) : quantityBytes(text);
    }),
  );
}

/** Fields of an encoded header. @throws when it is none */
export function fieldsOfHeader(encoded: Uint8Array) {
  const items: RlpItem = fromRlp(encoded, 'bytes');
  const field = (name: keyof RpcBlock): Uint8Array => {
    const item = items instanceof Uint8Array ? undefined : items[FIELDS.findIndex(([one]) => one === name)];
    if (!(item instanceof Uint8Array)) throw new TypeError(`the header lacks ${name}`);
    return item;
  };
  return {
    number: bytesToBigInt(field('number')),
    timestamp: bytesToBigInt(field('timestamp')),
    transactionsRoot: field('transactionsRoot'),
    receiptsRoot: field('receiptsRoot'),
  };
}

/** Names of fields that each header has, and this one lacks. */
export function missingFields(block: RpcBlock): string[] {
  return FIELDS.map(([name]) => name).filter(name => block[name] === null || block[name] === undefined);
}

/** Names of fields that are not known here. They may be in the header, or be added by the node. */
export function unknownFields(block: RpcBlock): string[] {
  return Object.keys(block).filter(name => !KNOWN.has(name));
}
