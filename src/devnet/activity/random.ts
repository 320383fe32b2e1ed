/** Random draws that repeat with the same seed. */
export type Random = ReturnType<typeof seededRandom>;

/** A small seeded generator (mulberry32 over an FNV-1a hash of the seed); not for secrets. */
export function seededRandom(seed: string) {
  let state = hash(seed);

  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  function integer(min: number, max: number): number {
    return min + Math.floor(next() * (max - min + 1));
  }

  return {
    /** A whole number from `min` to `max`, both included. */
    integer,
    /** True with the given probability, 0 to 1. */
    chance: (probability: number) => next() < probability,
    /** One of the items. @throws RangeError when there are none. */
    pick: <T>(items: readonly T[]): T => {
      const picked = items[integer(0, items.length - 1)];
      if (picked === undefined) throw new RangeError('nothing to pick from');
      return picked;
    },
    /** Random bytes as 0x-prefixed hexadecimal. */
    hex: (bytes: number): `0x${string}` => {
      const digits = Array.from({ length: bytes }, () => integer(0, 255).toString(16).padStart(2, '0'));
      return `0x${digits.join('')}`;
    },
  };
}

function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return value;
}
