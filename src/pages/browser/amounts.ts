const TYPED = /^(\d*)(?:[.,](\d*))?$/;
/** Numbers with separators of thousands, by the reader's decimal mark. */
const THOUSANDS: Readonly<Record<DecimalMark, RegExp>> = {
  '.': /^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?$/,
  ',': /^[1-9]\d{0,2}(?:\.\d{3})+(?:,\d*)?$/,
};
/** Decimals that a token is believed to have. */
const MAX_DECIMALS = 36;
const SHOWN_DIGITS = 6;
/** Digits of a whole number from which on it has a power of ten, and the lowest power of ten without one. */
const LONGEST_WHOLE = 15;
const LOWEST_POWER = -9;
const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const GROUPS = /\B(?=(?:\d{3})+$)/g;

/** Mark before the decimals of a number. */
type DecimalMark = '.' | ',';

/** Marks of numbers in a locale; that of the browser when absent. */
export function numberMarks(locale?: string): { readonly decimal: DecimalMark; readonly group: string } {
  const parts = new Intl.NumberFormat(locale).formatToParts(1_234_567.5);
  const markOf = (type: string) => parts.find(part => part.type === type)?.value;
  return markOf('decimal') === ','
    ? { decimal: ',', group: markOf('group') ?? '.' }
    : { decimal: '.', group: ',' };
}

const OWN = numberMarks();

/** A number that `wholeUnits` or `grouped` has formatted, with the marks of the reader's locale. */
export function inOwnMarks(text: string, { decimal, group } = OWN): string {
  return text.replace(/[.,]/g, mark => (mark === ',' ? group : decimal));
}

/** A count, grouped with the marks of the reader's locale. */
export function countText(count: number, marks = OWN): string {
  return inOwnMarks(grouped(count), marks);
}

/** A part of 1 in percent with one decimal place, with the marks of the reader's locale: `12,5 %` in German. */
export function percentText(part: number, marks = OWN): string {
  return `${inOwnMarks((part * 100).toFixed(1), marks)} %`;
}

/** Formats smallest units in whole ones as the reader would type them: `1234,5` in German. */
export function typedUnits(units: bigint, decimals: number, { decimal } = OWN): string {
  return plainUnits(units, decimals).replace('.', decimal);
}

/** Symbol and decimals of a token or coin. */
export interface Denomination {
  readonly symbol: string;
  readonly decimals: number;
}

/**
 * Formats smallest units in whole ones, exactly: `1234500000` at 6 decimals is `1,234.5`. A negative amount has a minus
 * sign.
 */
export function wholeUnits(amount: string | bigint, decimals: number): string {
  const units = BigInt(amount);
  const [whole = '', ...fraction] = plainUnits(units < 0n ? -units : units, decimals).split('.');
  return `${units < 0n ? '−' : ''}${[grouped(whole), ...fraction].join('.')}`;
}

/** Formats smallest units in whole ones without separators, as typed: `1234.5`. Not for negative amounts. */
export function plainUnits(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/**
 * Formats smallest units in whole ones, for a glance (Decision 418). Of a fraction, the first six significant digits are
 * shown, and of very large and very small amounts a power of ten. Digits that are left out leave an ellipsis, and none is
 * rounded: `0.000469955…`, `1.15792…×10⁵⁹`.
 */
export function shortUnits(amount: string | bigint, decimals: number): string {
  const units = BigInt(amount);
  if (units === 0n) return '0';
  const digits = (units < 0n ? -units : units).toString();
  const power = digits.length - 1 - decimals;
  const text =
    power >= LONGEST_WHOLE || power < LOWEST_POWER
      ? `${cutDigits(digits, 1, SHOWN_DIGITS)}×10${superscript(power)}`
      : power < 0
        ? `0.${'0'.repeat(-power - 1)}${cutDigits(digits, 0, SHOWN_DIGITS)}`
        : cutDigits(digits, power + 1, Math.max(power + 1, SHOWN_DIGITS));
  return units < 0n ? `−${text}` : text;
}

/** The first digits of a number, `whole` of them before the point, and an ellipsis if those left out are not all zero. */
function cutDigits(digits: string, whole: number, most: number): string {
  const kept = digits.slice(0, most);
  const isCut = /[1-9]/.test(digits.slice(most));
  const fraction = isCut ? kept.slice(whole) : kept.slice(whole).replace(/0+$/, '');
  const start = grouped(kept.slice(0, whole).padEnd(whole, '0'));
  const end = isCut ? `${fraction}…` : fraction;
  return whole === 0 ? end : end === '' ? start : `${start}.${end}`;
}

function superscript(power: number): string {
  const digits = [...String(Math.abs(power))].map(digit => SUPERSCRIPTS[Number(digit)]);
  return `${power < 0 ? '⁻' : ''}${digits.join('')}`;
}

/** Formats smallest units in whole ones with the symbol: `1234.5 USDC`. */
export function unitsText(units: bigint, { symbol, decimals }: Denomination): string {
  return `${plainUnits(units, decimals)} ${symbol}`;
}

/**
 * Parses an amount in whole units to smallest units; undefined for other text and for too many decimals. A mark that
 * may separate thousands for the reader is refused: `1,000` is 1 in some locales and 1000 in others, `2.000` too.
 */
export function smallestUnits(text: string, decimals: number, { decimal } = OWN): bigint | undefined {
  if (THOUSANDS[decimal].test(text.trim())) return undefined;
  const [, whole = '', fraction = ''] = TYPED.exec(text.trim()) ?? [];
  const digits = fraction.replace(/0+$/, '');
  if ((whole === '' && fraction === '') || digits.length > decimals) return undefined;
  return BigInt(`${whole}${digits.padEnd(decimals, '0')}`);
}

/** Question about an amount with a mark that may separate thousands; undefined for other text. */
export function commaAdvice(text: string, marks = OWN): string | undefined {
  const parts = ambiguousParts(text, marks);
  if (parts === undefined) return undefined;
  const { whole, fraction } = parts;
  return fraction === undefined
    ? `Write ${whole}, without separators of thousands.`
    : `Is ${text.trim()} meant as ${whole} or as ${fraction}? Write ${whole} or ${fraction}.`;
}

/**
 * Readings of an amount with marks that may separate thousands for the reader: without them, and with a single one as the
 * decimal mark. Undefined for other text.
 */
export function ambiguousParts(
  text: string,
  { decimal } = OWN,
): { readonly whole: string; readonly fraction: string | undefined } | undefined {
  const typed = text.trim();
  if (!THOUSANDS[decimal].test(typed)) return undefined;
  const whole = typed.replaceAll(decimal === '.' ? ',' : '.', '');
  const [units = '', digits = '', ...more] = typed.split(/[.,]/);
  if (more.length > 0) return { whole, fraction: undefined };
  const decimals = digits.replace(/0+$/, '');
  return { whole, fraction: decimals === '' ? units : `${units}${decimal}${decimals}` };
}

/**
 * Decimals of a token from its record; 0 when absent, and undefined for values that no token needs. Those are unknown:
 * a stranger writes them to stretch pages (Decision 418).
 */
export function decimalsIn(text: string | null | undefined): number | undefined {
  const decimals = Number(text ?? 0);
  return Number.isInteger(decimals) && decimals >= 0 && decimals <= MAX_DECIMALS ? decimals : undefined;
}

/** Formats an integer with separators: `12,345`. Large numbers are passed as text. */
export function grouped(value: string | number | bigint): string {
  return String(value).replace(GROUPS, ',');
}

/** Decimals and symbol of a chain's native coin and of its usual fee unit. */
export const COIN_DECIMALS = 18;
export const GWEI_DECIMALS = 9;
