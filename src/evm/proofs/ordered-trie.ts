import { fromRlp } from 'viem';
import { EMPTY, keccak, quantityBytes } from './bytes.ts';
import { type RlpItem, rlp } from './rlp.ts';

/**
 * Merkle Patricia trie of a list: the key of an entry is the RLP of its position. This is our own, because the kept
 * packages for such tries are under the MPL, and a trie that is never changed needs a hundred lines.
 * Source: yellow paper, appendix D.
 */
export interface OrderedTrie {
  readonly root: Uint8Array;
  /**
   * Encoded nodes from the root to the entry at this position. A node that is shorter than a hash is not among them,
   * because its parent contains it.
   */
  pathTo(position: number): Uint8Array[];
}

/** Half bytes of a key. */
type Nibbles = readonly number[];

interface Entry {
  readonly key: Nibbles;
  readonly value: Uint8Array;
}

interface TrieNode {
  readonly encoded: Uint8Array;
  /** The node as its parent contains it: its hash, or itself when it is shorter than a hash. */
  readonly reference: RlpItem;
  /** The child on the way to a key. */
  childFor(key: Nibbles): TrieNode | undefined;
}

const HASH_BYTES = 32;
const BRANCH_ITEMS = 17;

/** Root of the trie of a list. */
export function rootOf(values: readonly Uint8Array[]): Uint8Array {
  return orderedTrie(values).root;
}

export function orderedTrie(values: readonly Uint8Array[]): OrderedTrie {
  const entries = values.map((value, position) => ({ key: keyOf(position), value }));
  const top = entries.length === 0 ? undefined : nodeOf(entries, 0);
  return {
    root: keccak(top?.encoded ?? rlp(EMPTY)),
    pathTo(position) {
      const key = keyOf(position);
      const path: Uint8Array[] = [];
      for (let node = top; node !== undefined; node = node.childFor(key))
        if (node === top || node.encoded.length >= HASH_BYTES) path.push(node.encoded);
      return path;
    },
  };
}

/** Node of entries whose keys have the first `depth` nibbles in common. */
function nodeOf(entries: readonly Entry[], depth: number): TrieNode {
  const [first] = entries;
  if (first === undefined) throw new Error('A node needs an entry.');
  if (entries.length === 1)
    return trieNode([encodedPath(first.key.slice(depth), true), first.value], () => undefined);
  const end = depth + sharedLength(entries, depth);
  if (end > depth) {
    const child = nodeOf(entries, end);
    return trieNode([encodedPath(first.key.slice(depth, end), false), child.reference], () => child);
  }
  const children = Array.from({ length: BRANCH_ITEMS - 1 }, (_, nibble) => {
    const below = entries.filter(({ key }) => key[depth] === nibble);
    return below.length === 0 ? undefined : nodeOf(below, depth + 1);
  });
  // No key is the beginning of another one, so a branch never has a value.
  const references = children.map(child => child?.reference ?? EMPTY);
  return trieNode([...references, EMPTY], key => children[key[depth] ?? 0]);
}

function trieNode(item: RlpItem, childFor: TrieNode['childFor']): TrieNode {
  const encoded = rlp(item);
  return { encoded, reference: encoded.length < HASH_BYTES ? item : keccak(encoded), childFor };
}

function sharedLength(entries: readonly Entry[], depth: number): number {
  const [first, ...others] = entries;
  let length = 0;
  while (others.every(({ key }) => key[depth + length] === first?.key[depth + length])) length += 1;
  return length;
}

function keyOf(position: number): Nibbles {
  return nibblesOf(rlp(positionBytes(position)));
}

function positionBytes(position: number): Uint8Array {
  return quantityBytes(`0x${position.toString(16)}`);
}

function nibblesOf(bytes: Uint8Array): Nibbles {
  const nibbles: number[] = [];
  for (const byte of bytes) nibbles.push(byte >> 4, byte & 15);
  return nibbles;
}

/** Hex-prefix encoding of a part of a key. Source: yellow paper, appendix C. */
function encodedPath(nibbles: Nibbles, isLeaf: boolean): Uint8Array {
  const flag = isLeaf ? 2 : 0;
  const all = nibbles.length % 2 === 0 ? [flag, 0, ...nibbles] : [flag + 1, ...nibbles];
  const bytes = new Uint8Array(all.length / 2);
  for (const at of bytes.keys()) bytes[at] = ((all[2 * at] ?? 0) << 4) | (all[2 * at + 1] ?? 0);
  return bytes;
}

/** The same as `valueOfKey` for the entry at a position of a list. */
export function valueAt(
  root: Uint8Array,
  { position, path }: { position: number; path: readonly Uint8Array[] },
): Uint8Array | undefined {
  return valueOfKey(root, { key: rlp(positionBytes(position)), path }) ?? undefined;
}

/**
 * Reads the entry of a key of any trie by the path to it. Null when the path shows that there is none: it ends at a node that
 * leads to other keys only. Undefined when it does not lead there from the root, so that nothing is proven.
 */
export function valueOfKey(
  root: Uint8Array,
  { key: bytes, path }: { key: Uint8Array; path: readonly Uint8Array[] },
): Uint8Array | null | undefined {
  let key = nibblesOf(bytes);
  let reference: RlpItem | undefined = root;
  const nodes = path.values();
  while (reference !== undefined) {
    const node = nodeFor(reference, () => nodes.next().value);
    if (node === undefined) return undefined;
    if (node.length === BRANCH_ITEMS) {
      reference = node[key[0] ?? BRANCH_ITEMS];
      if (isEmpty(reference)) return isEnd(nodes) ? null : undefined;
      key = key.slice(1);
      continue;
    }
    const [prefix, next] = node;
    if (!(prefix instanceof Uint8Array) || next === undefined) return undefined;
    const [flag = 0, ...others] = nibblesOf(prefix);
    const part = flag % 2 === 1 ? others : others.slice(1);
    if (part.some((nibble, at) => nibble !== key[at])) return isEnd(nodes) ? null : undefined;
    key = key.slice(part.length);
    const isLeaf = flag >= 2;
    if (isLeaf) return key.length === 0 && next instanceof Uint8Array && isEnd(nodes) ? next : undefined;
    reference = next;
  }
  return undefined;
}

/** Node that its parent refers to: contained in it, or the next one of the path if that has the hash. */
function nodeFor(
  reference: RlpItem,
  nextOfPath: () => Uint8Array | undefined,
): readonly RlpItem[] | undefined {
  if (!(reference instanceof Uint8Array)) return reference;
  const encoded = nextOfPath();
  if (encoded === undefined || Buffer.compare(keccak(encoded), reference) !== 0) return undefined;
  const item: RlpItem = fromRlp(encoded, 'bytes');
  return item instanceof Uint8Array ? undefined : item;
}

function isEmpty(item: RlpItem | undefined): boolean {
  return item instanceof Uint8Array && item.length === 0;
}

function isEnd(nodes: Iterator<Uint8Array>): boolean {
  return nodes.next().done === true;
}
