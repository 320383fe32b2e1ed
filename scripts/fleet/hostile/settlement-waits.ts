/** Waits of honest payers for settlement, in milliseconds. */
export interface SettlementWaits {
  /** Undefined when there are none to compare with. */
  readonly without: readonly number[] | undefined;
  readonly underAttack: readonly number[];
}

/** Settlement under attack may take this many times as long as without. */
const MAX_RATIO = 2;
/** The longest wait is told, but not judged: anvil mines no other block while it executes an attack for seconds. */
const JUDGED = ['median', 'ninth of ten'] as const;

type Spread = Readonly<Record<(typeof JUDGED)[number] | 'longest' | 'count', number>>;

/** Compares the waits under attack with those without one. Returns a line for the report. */
export function compareWaits(waits: SettlementWaits, violation: (sentence: string) => void): string {
  const under = spread(waits.underAttack);
  if (waits.without === undefined) return `settlement under attack: ${told(under)}`;
  const without = spread(waits.without);
  for (const measure of JUDGED) {
    const [is, was] = [under[measure], without[measure]];
    if (is > MAX_RATIO * was)
      violation(`the ${measure} wait for settlement is ${seconds(is)} under attack, ${seconds(was)} without`);
  }
  return `settlement without an attack: ${told(without)}; under attack: ${told(under)}`;
}

function spread(waits: readonly number[]): Spread {
  const sorted = waits.toSorted((a, b) => a - b);
  const [median, ninth, longest] = [0.5, 0.9, 1].map(part => sorted[Math.ceil(part * sorted.length) - 1]);
  if (median === undefined || ninth === undefined || longest === undefined)
    throw new Error('no payment was settled');
  return { count: sorted.length, median, 'ninth of ten': ninth, longest };
}

function told({ count, median, 'ninth of ten': ninth, longest }: Spread): string {
  return `${count} payments, median ${seconds(median)}, nine of ten ${seconds(ninth)}, longest ${seconds(longest)}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
