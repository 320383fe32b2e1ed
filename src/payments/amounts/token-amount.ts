/** What has a symbol and a smallest unit. */
export interface Denomination {
  readonly symbol: string;
  readonly decimals: number;
}

/** The largest amount that a token can express. */
export const LARGEST_AMOUNT = 2n ** 256n - 1n;

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
