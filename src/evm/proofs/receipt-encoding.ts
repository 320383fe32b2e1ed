import type { RpcReceipt } from '../rpc.ts';
import { dataBytes, keccak, MalformedValue, quantityBytes } from './bytes.ts';
import { type RlpItem, rlp } from './rlp.ts';
import { OP_DEPOSIT } from './transaction-encoding.ts';

export const BLOOM_BYTES = 256;
const ROOT_BYTES = 32;

/**
 * Encoding of the receipt of a transaction of a type, with this bloom filter. Sources: EIP-2718 and 658.
 * @throws MalformedValue
 */
export function encodedReceipt(type: number, receipt: RpcReceipt, bloom: Uint8Array): Uint8Array {
  const { cumulativeGasUsed, logs, depositNonce, depositReceiptVersion } = receipt;
  const items: RlpItem[] = [
    outcomeOf(receipt),
    quantityBytes(cumulativeGasUsed),
    bloom,
    logs.map(({ address, topics, data }) => [dataBytes(address), topics.map(dataBytes), dataBytes(data)]),
  ];
  // Only from Canyon on the nonce is encoded, and only then there is a version. Source: specs.optimism.io, "Canyon".
  const isSinceCanyon = depositReceiptVersion !== null && depositReceiptVersion !== undefined;
  if (type === OP_DEPOSIT && isSinceCanyon)
    items.push(quantityBytes(depositNonce), quantityBytes(depositReceiptVersion));
  return rlp(items, type === 0 ? undefined : type);
}

/** Status, or the root of the state before Byzantium. Their lengths differ, so that none is taken for the other. */
function outcomeOf({ status, root }: RpcReceipt): Uint8Array {
  const hasStatus = status !== null && status !== undefined;
  const bytes = hasStatus ? quantityBytes(status) : dataBytes(root);
  if (hasStatus ? bytes.length > 1 : bytes.length !== ROOT_BYTES) throw new MalformedValue(status ?? root);
  return bytes;
}

/** Bloom filter of logs: the bits of each address and topic. Source: yellow paper, section 4.4.3. */
export function computedBloom(logs: RpcReceipt['logs']): Uint8Array {
  const bloom = new Uint8Array(BLOOM_BYTES);
  for (const { address, topics } of logs) {
    for (const entry of [address, ...topics]) {
      for (const bit of bloomBits(dataBytes(entry))) {
        const byte = BLOOM_BYTES - 1 - (bit >> 3);
        bloom[byte] = (bloom[byte] ?? 0) | (1 << (bit & 7));
      }
    }
  }
  return bloom;
}

/** Numbers of the three bits that an address or a topic sets, from the end of the filter. */
export function bloomBits(entry: Uint8Array): number[] {
  const hash = keccak(entry);
  return [0, 2, 4].map(at => (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2047);
}
