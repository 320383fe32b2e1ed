import type { AbiParameter, Hex } from 'viem';

/** Remaining decoding allowance of one answer, in bytes. Every decoder subtracts from it. */
export interface DecodingBudget {
  left: number;
}

/** Layout of a type: a fixed number of words in place, or data behind an offset. */
type Shape =
  | { readonly kind: 'words'; readonly bytes: number; readonly cost: number }
  | { readonly kind: 'blob' }
  | { readonly kind: 'list'; readonly item: Shape }
  | { readonly kind: 'row'; readonly length: number; readonly item: Shape }
  | { readonly kind: 'tuple'; readonly parts: readonly Shape[] };

const WORD = 32;
/**
 * Maximum ratio of decoded to encoded size. Normal data needs a ratio of 1, but some encoders let equal parts share
 * bytes.
 */
const MAX_TIMES = 4;
const ALWAYS_ALLOWED = 4096;
const ARRAY = /^(.*)\[(\d*)\]$/;

/**
 * Checks that encoded values fit into the data and are not much larger than it when decoded. Several offsets may lead
 * to the same bytes, so small data could decode to huge values. Subtracts the decoded size from the budget. Takes time
 * linear in the size of the data, for any data.
 */
export function mayDecode(
  inputs: readonly AbiParameter[],
  data: Hex,
  { budget, start: firstDigit = 2 }: { budget?: DecodingBudget | undefined; start?: number } = {},
): boolean {
  const size = Math.floor((data.length - firstDigit) / 2);
  const allowed = MAX_TIMES * size + ALWAYS_ALLOWED;
  let spent = 0;
  const fits = walkAll(shapesOf(inputs), 0);
  if (budget === undefined) return fits;
  // Refused data is charged too, because checking it took time.
  budget.left -= Math.min(spent, allowed);
  return fits && budget.left >= 0;

  function spend(bytes: number): boolean {
    spent += bytes;
    return spent <= allowed;
  }

  /**
   * Word at a position; infinite beyond the end of the data, so that every position computed from it fails the bounds
   * checks.
   */
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
    // Items without offsets are not visited one by one.
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

/** A value of zero bytes, such as an empty tuple, still costs one word. */
function words(bytes: number, cost: number): Shape {
  return { kind: 'words', bytes, cost: Math.max(WORD, cost) };
}
