import { COMMA, endOfString, isCloser, isOpener, LIST, QUOTE } from './member-count.ts';

/** A value of a JSON text. */
type Json = unknown;

/** Reference to a list or object that is passed in pieces. */
export interface Part {
  readonly id: number;
  readonly isList: boolean;
}

/** Consecutive members of a list or object. */
export interface Piece {
  readonly of: Part;
  /** Keys of the members of an object. */
  readonly keys: readonly string[] | undefined;
  readonly members: readonly Json[];
  /** Value of the only member, when it is passed in pieces too. */
  readonly part?: Part;
}

/** Value as a whole, or as a part whose pieces precede it. */
export type Root = { readonly value: Json } | { readonly part: Part };

/** Bytes of a piece. Copying the values of so many to another thread takes about a millisecond. */
const PIECE_BYTES = 32 * 1024;
/** Far above the depth of a trace, which has two levels for each of at most 1,024 nested calls. */
const MAX_LEVELS = 4_096;

/** A list or object that is passed in pieces, by the positions of its brackets. */
interface Container {
  readonly part: Part;
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a JSON text piece by piece, so that memory holds the text and one piece, not the whole value.
 * The pieces of a container may precede or follow those of its members. @throws SyntaxError
 */
export function* piecesOf(bytes: Uint8Array, parse: (text: string) => Json): Generator<Piece, Root> {
  const ends = longContainers(bytes);
  const decoder = new TextDecoder();
  const textOf = (from: number, to: number) => decoder.decode(bytes.subarray(from, to));
  const [rootStart, rootEnd] = [...ends].at(-1) ?? [];
  if (rootStart === undefined || rootEnd === undefined) return { value: parse(textOf(0, bytes.length)) };
  // Only blanks may be outside of it.
  parse(`${textOf(0, rootStart)}null${textOf(rootEnd + 1, bytes.length)}`);

  const waiting: Container[] = [];
  let parts = 0;
  const partAt = (start: number, end: number): Part => {
    const part = { id: parts++, isList: bytes[start] === LIST };
    waiting.push({ part, start, end });
    return part;
  };
  const root = partAt(rootStart, rootEnd);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) yield* cut(next);
  return { part: root };

  function* cut({ part, start, end }: Container): Generator<Piece> {
    /** Beginnings of the next piece and of the current member. */
    let [from, member] = [start + 1, start + 1];
    /** Beginning of the long container in this member. */
    let long: number | undefined;
    let depth = 0;
    for (let at = start + 1; at <= end; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE) at = endOfString(bytes, at);
      else if (isOpener(byte)) {
        const close = ends.get(at);
        if (close === undefined) depth += 1;
        else [long, at] = [at, close];
      } else if (isCloser(byte) && at < end) depth -= 1;
      else if (at === end || (byte === COMMA && depth === 0)) {
        if (long !== undefined) {
          if (member > from) yield piece(part, textOf(from, member - 1));
          const close = ends.get(long) ?? end;
          yield {
            ...piece(part, `${textOf(member, long)}null${textOf(close + 1, at)}`),
            part: partAt(long, close),
          };
          from = at + 1;
        } else if (at === end || at - from > PIECE_BYTES) {
          const isEmpty = at === end && from === start + 1;
          yield piece(part, textOf(from, at), isEmpty);
          from = at + 1;
        }
        member = at + 1;
        long = undefined;
      }
    }
  }

  function piece(of: Part, text: string, mayBeEmpty = false): Piece {
    const parsed = parse(of.isList ? `[${text}]` : `{${text}}`);
    const keys = of.isList ? undefined : Object.keys(Object(parsed));
    const members: readonly Json[] = Object.values(Object(parsed));
    if (members.length === 0 && !mayBeEmpty) throw new SyntaxError('A member is missing.');
    return { of, keys, members };
  }
}

/** Ends of the containers that are too long for a piece, by their beginnings. The outermost is the last one. */
function longContainers(bytes: Uint8Array): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (isOpener(byte)) {
      if (open.push(at) > MAX_LEVELS) throw new SyntaxError('There are too many levels.');
    } else if (isCloser(byte)) {
      const start = open.pop();
      if (start === undefined || bytes[start] !== byte - 2)
        throw new SyntaxError('A bracket does not match.');
      if (at - start > PIECE_BYTES) ends.set(start, at);
    }
  }
  if (open.length > 0) throw new SyntaxError('A bracket is missing.');
  return ends;
}

/** Puts the pieces of one value together. */
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
    add({ of, keys, members, part }: Piece): void {
      const container = containerOf(of);
      const whole = part === undefined ? members : [containerOf(part)];
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
