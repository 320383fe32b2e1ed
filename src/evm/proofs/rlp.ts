/** Item of an RLP structure. */
export type RlpItem = Uint8Array | readonly RlpItem[];

/** Longest payload with its length in the first byte. */
const SHORT = 55;
const BYTES_HEAD = 0x80;
const LIST_HEAD = 0xc0;

/**
 * RLP of a structure, after the byte of its type if there is one. This is our own, because that of viem takes five times
 * as long. Sources: Ethereum yellow paper, appendix B, and EIP-2718.
 */
export function rlp(item: RlpItem, type?: number): Uint8Array {
  const typeLength = type === undefined ? 0 : 1;
  const bytes = Buffer.allocUnsafe(typeLength + lengthOf(item));
  if (type !== undefined) bytes[0] = type;
  writeBefore(bytes.length, item, bytes);
  return bytes;
}

function lengthOf(item: RlpItem): number {
  if (item instanceof Uint8Array) return isItsOwnHead(item) ? 1 : headLength(item.length) + item.length;
  let length = 0;
  for (const one of item) length += lengthOf(one);
  return headLength(length) + length;
}

/**
 * Writes an item that ends before a position, and returns where it starts. From its end, because the head of a list
 * needs the length of what follows.
 */
function writeBefore(end: number, item: RlpItem, bytes: Buffer): number {
  let start = end;
  if (item instanceof Uint8Array) {
    start -= item.length;
    bytes.set(item, start);
    return isItsOwnHead(item) ? start : writeHead(start, { first: BYTES_HEAD, length: end - start }, bytes);
  }
  for (let at = item.length - 1; at >= 0; at -= 1) start = writeBefore(start, item[at] ?? [], bytes);
  return writeHead(start, { first: LIST_HEAD, length: end - start }, bytes);
}

function isItsOwnHead(bytes: Uint8Array): boolean {
  return bytes.length === 1 && (bytes[0] ?? 0) < BYTES_HEAD;
}

function headLength(length: number): number {
  if (length <= SHORT) return 1;
  const bits = 32 - Math.clz32(length);
  return 1 + Math.ceil(bits / 8);
}

function writeHead(
  before: number,
  { first, length }: { first: number; length: number },
  bytes: Buffer,
): number {
  const lengthBytes = headLength(length) - 1;
  const start = before - 1 - lengthBytes;
  bytes[start] = first + (lengthBytes === 0 ? length : SHORT + lengthBytes);
  if (lengthBytes > 0) bytes.writeUIntBE(length, start + 1, lengthBytes);
  return start;
}
