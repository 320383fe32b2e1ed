/** The largest amount that a token can express. */
const LARGEST = 2n ** 256n - 1n;

/** What the payer is asked for at most: the price and the largest tail. Decision 132. */
export function highestAmountDue(price: bigint, tokenDecimals: number): bigint {
  const highest = price + largestTail(price, tokenDecimals);
  return highest < LARGEST ? highest : LARGEST;
}

/** 1 % of the price or 0.05 units of the token, whichever is larger, in smallest units. Decision 132. */
export function largestTail(price: bigint, tokenDecimals: number): bigint {
  const percent = price / 100n;
  const units = (5n * 10n ** BigInt(tokenDecimals)) / 100n;
  return percent > units ? percent : units;
}

/** True for an amount that a payer may get by rounding another one: its last decimal place is empty. Decision 132. */
export function isRound(amount: bigint): boolean {
  return amount % 10n === 0n;
}
