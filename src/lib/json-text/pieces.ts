/** A value of a JSON text. */
type Json = unknown;

/** Reference to a list or object that is passed in pieces. */
export interface Part {
  readonly id: number;
  readonly isList: boolean;
}

/** Consecutive members of a list or object. `keys` are those of an object. */
export interface Piece {
  readonly of: Part;
  readonly keys: readonly string[] | undefined;
  readonly members: readonly Json[];
  /** Positions in `members` whose value is passed in pieces too. */
  readonly holes: readonly { readonly at: number; readonly part: Part }[];
}

/** Value as a whole, or as a part whose pieces precede it. */
export type Root = { readonly value: Json } | { readonly part: Part };

/** Weight of a piece: about the number of its values. Copying so many to another thread takes about a millisecond. */
const PIECE_WEIGHT = 2_000;
/** Characters that weigh as much as one value. */
const CHARACTERS = 500;

/**
 * Cuts a parsed value into pieces that are copied to another thread one by one, because copying a large value at once
 * would block the event loop there.
 */
export function piecesOf(value: Json): { readonly pieces: readonly Piece[]; readonly root: Root } {
  const heavy = new Set<object>();
  weigh(value, heavy);
  const pieces: Piece[] = [];
  let parts = 0;

  function cut(container: object): Part {
    const isList = Array.isArray(container);
    const part: Part = { id: parts++, isList };
    const keys = isList ? undefined : Object.keys(container);
    const all: readonly Json[] = Object.values(container);
    let from = 0;
    let weight = 0;
    let holes: { at: number; part: Part }[] = [];
    const end = (to: number) => {
      // A hole's value is copied with its own pieces.
      const held = new Set(holes.map(({ at }) => from + at));
      const members = all.slice(from, to).map((member, index) => (held.has(from + index) ? null : member));
      pieces.push({ of: part, keys: keys?.slice(from, to), members, holes });
      from = to;
      weight = 0;
      holes = [];
    };
    for (const [index, member] of all.entries()) {
      if (isContainer(member) && heavy.has(member)) {
        holes.push({ at: index - from, part: cut(member) });
        weight += 1;
      } else {
        weight += weightOf(member);
      }
      if (weight >= PIECE_WEIGHT) end(index + 1);
    }
    if (from < all.length || all.length === 0) end(all.length);
    return part;
  }

  const root = isContainer(value) && heavy.has(value) ? { part: cut(value) } : { value };
  return { pieces, root };
}

/** Puts pieces together, in the order of `piecesOf`. */
export function assembly() {
  const containers = new Map<number, Json[] | Record<string, Json>>();

  function containerOf({ id, isList }: Part): Json[] | Record<string, Json> {
    const known = containers.get(id);
    if (known !== undefined) return known;
    const created = isList ? [] : {};
    containers.set(id, created);
    return created;
  }

  return {
    add({ of, keys, members, holes }: Piece): void {
      const container = containerOf(of);
      const whole: Json[] = [...members];
      for (const { at, part } of holes) whole[at] = containerOf(part);
      if (Array.isArray(container)) container.push(...whole);
      else for (const [index, key] of (keys ?? []).entries()) setOwn(container, key, whole[index]);
    },
    result: (root: Root): Json => ('value' in root ? root.value : containerOf(root.part)),
  };
}

/** Sets a member as `JSON.parse` does: `__proto__` is an ordinary key. */
function setOwn(container: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    container[key] = value;
  }
}

/** Weight of a value with all that it contains. Adds the containers that are too heavy for one piece to `heavy`. */
function weigh(value: Json, heavy: Set<object>): number {
  if (!isContainer(value)) return weightOf(value);
  let weight = 1;
  for (const member of Object.values(value)) weight += weigh(member, heavy);
  if (weight > PIECE_WEIGHT) heavy.add(value);
  return weight;
}

/** Weight of a value that is light as a whole. */
function weightOf(value: Json): number {
  if (typeof value === 'string') return 1 + value.length / CHARACTERS;
  if (!isContainer(value)) return 1;
  let weight = 1;
  for (const member of Object.values(value)) weight += weightOf(member);
  return weight;
}

function isContainer(value: Json): value is object {
  return typeof value === 'object' && value !== null;
}
