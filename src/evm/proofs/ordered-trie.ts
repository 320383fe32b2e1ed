import { EMPTY, keccak, quantityBytes, type RlpItem, rlp } from './bytes.ts';

/**
 * Merkle Patricia trie of a list: the key of an entry is the RLP of its position. This is our own, because the kept
 * packages for such tries are under the MPL, and a trie that is never changed needs a hundred lines.
 * Source: yellow paper, appendix D.
 */
interface OrderedTrie {
  readonly root: Uint8Array;
  /** Encoded nodes from the root to the entry at this position. One inside of its parent is left out. */
  pathTo(position: number): Uint8Array[];
}

/** Half bytes of a key. */
type Nibbles = readonly number[];

interface Entry {
  readonly key: Nibbles;
  readonly value: Uint8Array;
}

/** A node as RLP has it in its parent: itself when it is shorter than a hash, otherwise its hash. */
interface TrieNode {
  readonly item: RlpItem;
  readonly encoded: Uint8Array;
  readonly reference: RlpItem;
  /** Child for the rest of a key, with the number of nibbles that this node takes. */
  next(key: Nibbles): { child: TrieNode; taken: number } | undefined;
}

const HASH_BYTES = 32;

/** Root of the trie of a list. */
export function rootOf(values: readonly Uint8Array[]): Uint8Array {
  return orderedTrie(values).root;
}

function orderedTrie(values: readonly Uint8Array[]): OrderedTrie {
  const entries = values.map((value, position) => ({ key: keyOf(position), value }));
  const top = entries.length === 0 ? undefined : nodeOf(entries, 0);
  return {
    root: keccak(top?.encoded ?? rlp(EMPTY)),
    pathTo(position) {
      const path: Uint8Array[] = [];
      let key = keyOf(position);
      for (let node = top; node !== undefined; ) {
        if (node === top || node.encoded.length >= HASH_BYTES) path.push(node.encoded);
        const step = node.next(key);
        if (step !== undefined) key = key.slice(step.taken);
        node = step?.child;
      }
      return path;
    },
  };
}

/** Node of entries whose keys have the first `depth` nibbles in common. */
function nodeOf(entries: readonly Entry[], depth: number): TrieNode {
  const [first] = entries;
  if (first === undefined) throw new Error('A node needs an entry.');
  if (entries.length === 1) return node([path(first.key.slice(depth), true), first.value], () => undefined);
  const shared = sharedLength(entries, depth);
  if (shared > 0) {
    const child = nodeOf(entries, depth + shared);
    const part = path(first.key.slice(depth, depth + shared), false);
    return node([part, child.reference], () => ({ child, taken: shared }));
  }
  const children = Array.from({ length: 16 }, (_, nibble) => {
    const below = entries.filter(({ key }) => key[depth] === nibble);
    return below.length === 0 ? undefined : nodeOf(below, depth + 1);
  });
  // No key is the beginning of another one, so that a branch never has a value.
  return node([...children.map(child => child?.reference ?? EMPTY), EMPTY], ([nibble]) => {
    const child = children[nibble ?? 0];
    return child && { child, taken: 1 };
  });
}

function node(item: RlpItem, next: TrieNode['next']): TrieNode {
  const encoded = rlp(item);
  return { item, encoded, reference: encoded.length < HASH_BYTES ? item : keccak(encoded), next };
}

function sharedLength(entries: readonly Entry[], depth: number): number {
  const [first, ...others] = entries;
  let length = 0;
  while (others.every(({ key }) => key[depth + length] === first?.key[depth + length])) length += 1;
  return length;
}

function keyOf(position: number): Nibbles {
  const bytes = rlp(quantityBytes(`0x${position.toString(16)}`));
  return [...bytes].flatMap(byte => [byte >> 4, byte & 15]);
}

/** Hex-prefix encoding of a part of a key. Source: yellow paper, appendix C. */
function path(nibbles: Nibbles, isLeaf: boolean): Uint8Array {
  const flag = isLeaf ? 2 : 0;
  const all = nibbles.length % 2 === 0 ? [flag, 0, ...nibbles] : [flag + 1, ...nibbles];
  return Buffer.from(all.map(nibble => nibble.toString(16)).join(''), 'hex');
}
