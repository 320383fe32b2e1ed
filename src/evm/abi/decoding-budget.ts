import type { AbiParameter, Hex } from 'viem';

/** What may still be decoded for one answer, in bytes; whoever decodes takes from it. */
export interface DecodingBudget {
  left: number;
}

/** A type as the walk needs it: how many words stand in its place, or what its offset leads to. */
type Shape =
  | { readonly kind: 'words'; readonly bytes: number; readonly cost: number }
  | { readonly kind: 'blob' }
  | { readonly kind: 'list'; readonly item: Shape }
  | { readonly kind: 'row'; readonly length: number; readonly item: Shape }
  | { readonly kind: 'tuple'; readonly parts: readonly Shape[] };

const WORD = 32;
/** Honest data is never larger decoded than encoded; some encoders let equal parts share their bytes. */
const MOST_TIMES = 4;
const ALWAYS_ALLOWED = 4096;
const ARRAY = /^(.*)\[(\d*)\]$/;

/**
 * Whether encoded values may be decoded: they fit into the data, and are not much larger than it, which offsets that lead to
 * the same bytes can make them. They are encoded from digit `start` on, as for `decodeParameters`. Takes their size from the
 * budget. Linear in the data, whatever it says.
 */
export function mayDecode(
  inputs: readonly AbiParameter[],
  data: Hex,
  { budget, start: firstDigit = 2 }: { budget?: DecodingBudget | undefined; start?: number } = {},
): boolean {
  const size = Math.floor((data.length - firstDigit) / 2);
  const allowed = MOST_TIMES * size + ALWAYS_ALLOWED;
  let spent = 0;
  const fits = walkAll(shapesOf(inputs), 0);
  if (budget === undefined) return fits;
  // What is refused took a walk, too.
  budget.left -= Math.min(spent, allowed);
  return fits && budget.left >= 0;

  function spend(bytes: number): boolean {
    spent += bytes;
    return spent <= allowed;
  }

  /** Infinite where the data ends before: so is then all that is reckoned from it, and nothing infinite fits. */
  function word(at: number): number {
    if (!(at + WORD <= size)) return Number.POSITIVE_INFINITY;
    return Number.parseInt(data.slice(firstDigit + 2 * at, firstDigit + 2 * (at + WORD)), 16);
  }

  function walkAll(shapes: readonly Shape[], base: number): boolean {
    let at = base;
    for (const shape of shapes) {
      if (!walk(shape, at, base)) return false;
      at += shape.kind === 'words' ? shape.bytes : WORD;
    }
    return true;
  }

  function walk(shape: Shape, at: number, base: number): boolean {
    if (shape.kind === 'words') return at + shape.bytes <= size && spend(shape.cost);
    if (!spend(WORD)) return false;
    const start = base + word(at);
    if (!(start <= size)) return false;
    if (shape.kind === 'tuple') return walkAll(shape.parts, start);
    if (shape.kind === 'row') return walkItems(shape.item, shape.length, start);
    const length = word(start);
    const body = start + WORD;
    if (!spend(WORD)) return false;
    if (shape.kind === 'blob') return body + length <= size && spend(length);
    return walkItems(shape.item, length, body);
  }

  function walkItems(item: Shape, length: number, base: number): boolean {
    // Items without offsets need no visit.
    if (item.kind === 'words') return base + length * item.bytes <= size && spend(length * item.cost);
    for (let index = 0; index < length; index++) {
      if (!walk(item, base + index * WORD, base)) return false;
    }
    return true;
  }
}

const keptShapes = new WeakMap<readonly AbiParameter[], readonly Shape[]>();

function shapesOf(inputs: readonly AbiParameter[]): readonly Shape[] {
  const known = keptShapes.get(inputs);
  if (known !== undefined) return known;
  const made = inputs.map(shapeOf);
  keptShapes.set(inputs, made);
  return made;
}

function shapeOf(parameter: AbiParameter): Shape {
  const { type } = parameter;
  const [, itemType, length = ''] = ARRAY.exec(type) ?? [];
  if (itemType !== undefined) {
    const item = shapeOf({ ...parameter, type: itemType });
    if (length === '') return { kind: 'list', item };
    if (item.kind !== 'words') return { kind: 'row', length: Number(length), item };
    return words(Number(length) * item.bytes, Number(length) * item.cost);
  }
  if (type === 'bytes' || type === 'string') return { kind: 'blob' };
  if (!('components' in parameter)) return words(WORD, WORD);
  const parts = parameter.components.map(shapeOf);
  const still = parts.filter(part => part.kind === 'words');
  if (still.length < parts.length) return { kind: 'tuple', parts };
  return words(
    still.reduce((sum, { bytes }) => sum + bytes, 0),
    still.reduce((sum, { cost }) => sum + cost, 0),
  );
}

/** What takes no room in the data still makes a value. */
function words(bytes: number, cost: number): Shape {
  return { kind: 'words', bytes, cost: Math.max(WORD, cost) };
}
