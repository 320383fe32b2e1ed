/** A fraction of two integers; `over` is positive. */
export interface Ratio {
  readonly value: bigint;
  readonly over: bigint;
}

/** Decimal digits that are computed. A number holds 17, so the truncation never shows. */
const DIGITS = 30;

/** Nearest number to a fraction whose parts may be of any size. */
export function numberOf({ value, over }: Ratio): number {
  const size = value < 0n ? -value : value;
  const missing = DIGITS - (lengthOf(size) - lengthOf(over));
  const decimals = Math.max(0, missing);
  const digits = (size * 10n ** BigInt(decimals)) / over;
  return Number(`${value < 0n ? '-' : ''}${digits}e-${decimals}`);
}

/** Change from `before` to `now` in percent. `before` is not zero. */
export function percentChange(now: Ratio, before: Ratio): number {
  const then = before.value * now.over;
  return numberOf({ value: (now.value * before.over - then) * 100n, over: then });
}

export function product({ value, over }: Ratio, times: bigint): Ratio {
  return { value: value * times, over };
}

export function isLess(one: Ratio, other: Ratio): boolean {
  return one.value * other.over < other.value * one.over;
}

function lengthOf(size: bigint): number {
  return size.toString().length;
}
