import { formatUnits } from 'viem';

/** Symbol and decimal places of a token. */
export interface Denomination {
  readonly symbol: string;
  readonly decimals: number;
}

/** The largest amount that a token contract can express. */
export const LARGEST_AMOUNT = 2n ** 256n - 1n;

/** Amount in tokens with the symbol, exactly and without trailing zeros: `12.5 USDC`. */
export function amountText(units: bigint, { symbol, decimals }: Denomination): string {
  return `${formatUnits(units, decimals)} ${symbol}`;
}

/** Maximum decimal places of an exact amount. More are tedious to type, and wallets and exchanges may cut them off. */
const MAX_DECIMALS = 8;

/**
 * Smallest difference between two exact amounts of a token, in smallest units: more than 1 from nine decimals on. Each
 * open session asks for an amount of its own (Decision 132).
 */
export function exactStep(tokenDecimals: number): bigint {
  return 10n ** BigInt(Math.max(0, tokenDecimals - MAX_DECIMALS));
}

/** The highest amount that a payer is asked for: the price and the largest tail (Decision 132). */
export function highestAmountDue(price: bigint, tokenDecimals: number): bigint {
  const highest = price + largestTail(price, tokenDecimals);
  return highest < LARGEST_AMOUNT ? highest : LARGEST_AMOUNT;
}

/**
 * The largest tail: 1 % of the price or 0.05 units of the token, whichever is larger (Decision 132). In smallest units.
 */
export function largestTail(price: bigint, tokenDecimals: number): bigint {
  const percent = price / 100n;
  const units = (5n * 10n ** BigInt(tokenDecimals)) / 100n;
  return percent > units ? percent : units;
}

/**
 * True for an amount that a payer may get by rounding an exact one: its last decimal place is 0. A rounded amount pays
 * no session (Decision 132).
 */
export function isRound(amount: bigint, tokenDecimals: number): boolean {
  return amount % (10n * exactStep(tokenDecimals)) === 0n;
}
