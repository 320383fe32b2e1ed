/** What has a symbol and a smallest unit. */
export interface Denomination {
  readonly symbol: string;
  readonly decimals: number;
}

const TYPED = /^(\d*)(?:[.,](\d*))?$/;
const LARGEST = 2n ** 256n - 1n;

/** An amount of smallest units in tokens, exactly and without trailing zeros: 12500000n at 6 decimals is `12.5`. */
export function tokenAmount(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** The same with its symbol: `12.5 USDC`. */
export function amountText(units: bigint, { symbol, decimals }: Denomination): string {
  return `${tokenAmount(units, decimals)} ${symbol}`;
}

/**
 * The smallest units of an amount that somebody typed in tokens, with a point or a comma. Undefined for what is no
 * such amount, has more decimals than the token, or does not fit 256 bits: nothing is ever rounded.
 */
export function unitsOf(text: string, decimals: number): bigint | undefined {
  const [, whole = '', fraction = ''] = TYPED.exec(text.trim()) ?? [];
  const digits = fraction.replace(/0+$/, '');
  if ((whole === '' && fraction === '') || digits.length > decimals) return undefined;
  const units = BigInt(`${whole}${digits.padEnd(decimals, '0')}`);
  return units <= LARGEST ? units : undefined;
}
