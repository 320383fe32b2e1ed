import { setImmediate } from 'node:timers/promises';
import type { RpcBlock, RpcReceipt, RpcTransaction } from '../rpc.ts';

/** Parts of a block that its hash commits to, as a node sent them. */
export interface BlockContents {
  /** Header, and withdrawals. */
  readonly block: RpcBlock;
  /** All transactions, in order. */
  readonly transactions: readonly RpcTransaction[];
  /** In the order of the transactions; null where the node gave none. */
  readonly receipts: readonly (RpcReceipt | null)[];
}

/**
 * Result of recomputing a block.
 * - `proven`: all parts are equal to what the hash of the block commits to.
 * - `unproven`: a part is missing or of an unknown type, so that nothing can be said.
 * - `other-hash`: the header has another hash, or the receipts do and a type is unknown. The chain has rules that are not
 *   known here, or the node changed something.
 * - `contradiction`: the header has the hash of the block, and a part does not fit the header.
 */
export type BlockProof = { readonly kind: 'proven' } | Problem;

/** Reason for which a block is not proven. */
export type Problem =
  | { readonly kind: 'unproven' | 'other-hash'; readonly reason: string }
  | { readonly kind: 'contradiction'; readonly part: ProvenPart; readonly reason: string };

export type ProvenPart = 'transactions' | 'receipts' | 'withdrawals' | 'logs bloom';

export function unproven(reason: string): Problem {
  return { kind: 'unproven', reason };
}

export function otherHash(reason: string): Problem {
  return { kind: 'other-hash', reason };
}

export function contradiction(part: ProvenPart, reason: string): Problem {
  return { kind: 'contradiction', part, reason };
}

/** Bytes that are encoded in one turn of the event loop. They take about 5 ms. */
const TURN_BYTES = 2 ** 19;

/** Encodes each item, with pauses. */
export async function encodings<Item, Encoding extends Uint8Array | undefined>(
  items: readonly Item[],
  encode: (item: Item, position: number) => Encoding,
): Promise<Encoding[]> {
  const all: Encoding[] = [];
  let bytes = 0;
  for (const [position, item] of items.entries()) {
    const encoded = encode(item, position);
    all.push(encoded);
    bytes += encoded?.length ?? 0;
    if (bytes < TURN_BYTES) continue;
    await setImmediate();
    bytes = 0;
  }
  return all;
}
