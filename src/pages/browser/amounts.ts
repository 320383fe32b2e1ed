const TYPED = /^(\d*)(?:[.,](\d*))?$/;
const THOUSANDS = /^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?$/;
const MAX_DECIMALS = 255;
const GROUPS = /\B(?=(?:\d{3})+$)/g;

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

/** Formats smallest units in whole ones with the symbol: `1234.5 USDC`. */
export function unitsText(units: bigint, { symbol, decimals }: Denomination): string {
  return `${plainUnits(units, decimals)} ${symbol}`;
}

/**
 * Parses an amount in whole units to smallest units; undefined for other text and for too many decimals. Commas that
 * may be thousands separators are refused: `1,000` is 1 in some locales and 1000 in others.
 */
export function smallestUnits(text: string, decimals: number): bigint | undefined {
  if (THOUSANDS.test(text.trim())) return undefined;
  const [, whole = '', fraction = ''] = TYPED.exec(text.trim()) ?? [];
  const digits = fraction.replace(/0+$/, '');
  if ((whole === '' && fraction === '') || digits.length > decimals) return undefined;
  return BigInt(`${whole}${digits.padEnd(decimals, '0')}`);
}

/** Advice on writing an amount whose commas may be thousands separators; undefined for other text. */
export function commaAdvice(text: string): string | undefined {
  const typed = text.trim();
  if (!THOUSANDS.test(typed)) return undefined;
  const plain = `Write ${typed.replaceAll(',', '')}`;
  const parts = typed.split(/[.,]/);
  return parts.length === 2 ? `${plain}, or ${parts.join('.')} with a point.` : `${plain}, without commas.`;
}

/**
 * Decimals of a token from its record; 0 when absent. Values outside uint8, the type in ERC-20, are invalid: padding to
 * that many digits could exhaust the memory.
 */
export function decimalsIn(text: string | null | undefined): number {
  const decimals = Number(text ?? 0);
  return Number.isInteger(decimals) && decimals >= 0 && decimals <= MAX_DECIMALS ? decimals : 0;
}

/** Formats an integer with separators: `12,345`. Large numbers are passed as text. */
export function grouped(value: string | number | bigint): string {
  return String(value).replace(GROUPS, ',');
}

/** Decimals and symbol of a chain's native coin and of its usual fee unit. */
export const COIN_DECIMALS = 18;
export const GWEI_DECIMALS = 9;
