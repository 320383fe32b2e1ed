/** Number that a double may not hold, as a value: 16 digits or more, or an exponent. */
const MAY_LOSE_DIGITS =
  /(?:^|[:,[])\s*-?(?:[1-9]\d{15,}|(?:0|[1-9]\d*)(?:\.\d+)?[eE][+-]?\d+)\s*(?:$|[,\]}])/;
/**
 * Far above the longest value on a chain (78 digits). A number of a million digits would block the process for a
 * second.
 */
const WHOLE = /^-?\d{1,1000}$/;

/**
 * Parses JSON and returns integers beyond 2^53 as bigints of up to 1,000 digits. Texts without such a number are parsed
 * without a reviver, which takes three times as long. @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  return MAY_LOSE_DIGITS.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text);
}

/** Reviver for exact integers. It receives the source text of each number, which TypeScript's library lacks. */
function exactNumber(_key: string, value: unknown, { source }: { readonly source?: string } = {}): unknown {
  if (typeof value !== 'number' || source === undefined || Number.isSafeInteger(value)) return value;
  return (WHOLE.test(source) ? BigInt(source) : withoutExponent(source)) ?? value;
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
