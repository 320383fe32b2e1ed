import { randomUUID } from 'node:crypto';
import { isObject } from '#lib/json.ts';

const NUMBER = String.raw`-?(?:[1-9]\d{15,}|(?:0|[1-9]\d*)(?:\.\d+)?[eE][+-]?\d+)`;
/** Number in value position that a double may not hold: 16 digits or more, or an exponent. */
const MAY_LOSE_DIGITS = new RegExp(String.raw`([:,[]\s*)(${NUMBER})(?=\s*[,\]}])`, 'g');
const BARE_NUMBER = new RegExp(String.raw`^[ \t\r\n]*${NUMBER}[ \t\r\n]*$`);
/**
 * Far above the longest value on a chain (78 digits). A number of a million digits would block the process for a
 * second.
 */
const WHOLE = /^-?\d{1,1000}$/;
/** Prefix of the strings that replace integers. Random, so that no upstream can write one. */
const MARK = `${randomUUID()}:`;
const BACKSLASH = 92;

/** Integer beyond 2^53 and its position in the text. */
interface LongInteger {
  readonly integer: bigint;
  readonly start: number;
  readonly end: number;
}

/**
 * Parses JSON and returns integers beyond 2^53 as bigints of up to 1,000 digits. They are replaced by strings before
 * parsing and restored afterwards: a reviver with access to the source text makes JSON.parse six times slower. Of
 * duplicate keys the last one wins. @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  if (BARE_NUMBER.test(text)) return beyondDouble(text.trim()) ?? JSON.parse(text);
  const found = integersIn(text);
  if (found.length === 0) return JSON.parse(text);
  try {
    return parseWithout(text, found);
  } catch {
    // An integer inside a string was replaced, which broke the string. Checking for that first would slow down every
    // call.
    const isOutside = outsideOfStrings(text);
    return parseWithout(
      text,
      found.filter(({ start }) => isOutside(start)),
    );
  }
}

/** Long integers in ascending order of position, including those inside strings. */
function integersIn(text: string): LongInteger[] {
  const found: LongInteger[] = [];
  for (const { 1: before = '', 2: source = '', index } of text.matchAll(MAY_LOSE_DIGITS)) {
    const integer = beyondDouble(source);
    const start = index + before.length;
    if (integer !== null) found.push({ integer, start, end: start + source.length });
  }
  return found;
}

function beyondDouble(source: string): bigint | null {
  if (Number.isSafeInteger(Number(source))) return null;
  return WHOLE.test(source) ? BigInt(source) : withoutExponent(source);
}

function parseWithout(text: string, found: readonly LongInteger[]): unknown {
  let done = 0;
  let replaced = '';
  for (const [index, { start, end }] of found.entries()) {
    replaced += `${text.slice(done, start)}"${MARK}${index}"`;
    done = end;
  }
  return original(JSON.parse(replaced + text.slice(done)), found);
}

/** Restores the integers in a parsed value. Lists and objects are changed in place. */
function original(value: unknown, found: readonly LongInteger[]): unknown {
  if (typeof value === 'string')
    return value.startsWith(MARK) ? found[Number(value.slice(MARK.length))]?.integer : value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const inner: unknown = value[index];
      const own = original(inner, found);
      if (own !== inner) value[index] = own;
    }
  } else if (isObject(value)) {
    // Objects from JSON.parse have only own keys, and Object.keys would allocate a list of them.
    for (const key in value) {
      const inner = value[key];
      const own = original(inner, found);
      if (own !== inner) value[key] = own;
    }
  }
  return value;
}

/** Returns a test for positions in JSON text: true outside of strings. Positions must be passed in ascending order. */
function outsideOfStrings(text: string): (position: number) => boolean {
  let quote = text.indexOf('"');
  let isWithin = false;
  return position => {
    while (quote !== -1 && quote < position) {
      if (!isWithin || !isEscaped(text, quote)) isWithin = !isWithin;
      quote = text.indexOf('"', quote + 1);
    }
    return !isWithin;
  };
}

function isEscaped(text: string, position: number): boolean {
  let first = position;
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (position - first) % 2 === 1;
}

const EXPONENT = /^(-?)(\d{1,100})(?:\.(\d{1,100}))?[eE]\+?(\d{1,3})$/;

/** Converts a number such as `1.5e18` to an integer. Null for a number that is not whole. */
export function withoutExponent(text: string): bigint | null {
  const [, sign, whole, fraction = '', exponent] = EXPONENT.exec(text) ?? [];
  if (whole === undefined || exponent === undefined) return null;
  const digits = fraction.replace(/0+$/, '');
  const zeros = Number(exponent) - digits.length;
  return zeros < 0 ? null : BigInt(`${sign}${whole}${digits}${'0'.repeat(zeros)}`);
}
