/** A fraction of two integers; `over` is positive. */
export interface Ratio {
  readonly value: bigint;
  readonly over: bigint;
}

/** Decimal digits that are computed: a number holds 17, so what is cut off behind them is never seen. */
const DIGITS = 30;

/** The number next to a fraction, whatever the size of its two parts. */
export function numberOf({ value, over }: Ratio): number {
  const size = value < 0n ? -value : value;
  const missing = DIGITS - (lengthOf(size) - lengthOf(over));
  const places = Math.max(0, missing);
  const digits = (size * 10n ** BigInt(places)) / over;
  return Number(`${value < 0n ? '-' : ''}${digits}e-${places}`);
}

/** How much more the one fraction is than the other, in percent. `before` is not zero. */
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
