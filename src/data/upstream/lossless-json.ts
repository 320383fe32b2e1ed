/** A bare number that a double may not hold: 16 digits or more, or an exponent. Within a string it only costs time. */
const MAY_LOSE_DIGITS = /(?:^|[:,[])\s*-?(?:\d{16}|\d[\d.]*[eE])/;
/** Far beyond what chains hold (78 digits); a number of a million digits would take the process for a second. */
const WHOLE = /^-?\d{1,1000}$/;

declare global {
  interface JSON {
    /** With the source text of primitive values for the reviver (Node 21 and later; not yet in TypeScript's library). */
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
  }
}

/**
 * Parses JSON so that integers beyond 2^53 keep all their digits, as bigints, up to a thousand of them. Bodies without such numbers, which are
 * most, go the quick way. Of duplicate keys the last one counts. @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  return MAY_LOSE_DIGITS.test(text) ? JSON.parse(text, exact) : JSON.parse(text);
}

function exact(_key: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  if (WHOLE.test(source)) return BigInt(source);
  return withoutExponent(source) ?? value;
}

const EXPONENT = /^(-?)(\d{1,100})(?:\.(\d{1,100}))?[eE]\+?(\d{1,3})$/;

/** The integer behind `1.5e18`; null for what is not one. */
export function withoutExponent(text: string): bigint | null {
  const [, sign, whole, fraction = '', exponent] = EXPONENT.exec(text) ?? [];
  if (whole === undefined || exponent === undefined) return null;
  const digits = fraction.replace(/0+$/, '');
  const zeros = Number(exponent) - digits.length;
  return zeros < 0 ? null : BigInt(`${sign}${whole}${digits}${'0'.repeat(zeros)}`);
}
