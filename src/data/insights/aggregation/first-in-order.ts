/** Fewer than this are not worth being picky about. */
const LEAST_KEPT = 1_000;

/** The first `count` items in an order, without sorting all the others. */
export function firstInOrder<T>(items: readonly T[], count: number, compare: (a: T, b: T) => number): T[] {
  const most = Math.max(count, LEAST_KEPT);
  let kept: T[] = [];
  let last: T | undefined;
  for (const item of items) {
    if (last !== undefined && compare(item, last) > 0) continue;
    kept.push(item);
    if (kept.length >= 2 * most) {
      kept = kept.sort(compare).slice(0, most);
      last = kept.at(-1);
    }
  }
  return kept.sort(compare).slice(0, count);
}
