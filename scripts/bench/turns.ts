import { type Figure, figureOf, median } from './figure.ts';

const PARTS = 5;

/** Rounds and method of a comparison of two functions. */
export interface Rounds {
  /** Rounds before those that count. */
  readonly warm: number;
  readonly rounds: number;
  readonly timed: (work: () => unknown) => Promise<number>;
}

/** Rounds for work of about a millisecond. */
export const QUICK: Rounds = { warm: 32, rounds: 201, timed: wallMs };

/** Times of two alternating functions, in milliseconds. */
export interface PairedTimes {
  readonly base: readonly number[];
  readonly other: readonly number[];
}

/** Measures both functions in each round. The order alternates. */
export async function inTurns(
  { warm, rounds, timed }: Rounds,
  [base, other]: readonly [(round: number) => unknown, (round: number) => unknown],
): Promise<PairedTimes> {
  const times = { base: [] as number[], other: [] as number[] };
  for (let round = 0; round < warm + rounds; round++) {
    const turns = [
      async () => [times.base, await timed(() => base(round))] as const,
      async () => [times.other, await timed(() => other(round))] as const,
    ];
    for (const turn of round % 2 === 0 ? turns : turns.reverse()) {
      const [list, ms] = await turn();
      if (round >= warm) list.push(ms);
    }
  }
  return times;
}

/** Wall time of some work in milliseconds. */
export async function wallMs(work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Figure of the other time over the base time. Each of its rounds is the ratio of the medians of one part. */
export function timeRatio(
  name: string,
  { base, other }: PairedTimes,
  wanted: { readonly atMost: number } | undefined,
): Figure {
  const bases = medians(base);
  return figureOf({
    name,
    rounds: medians(other).map((ms, part) => ms / (bases[part] ?? Number.NaN)),
    wanted,
    note: `${median(base).toFixed(2)} ms → ${median(other).toFixed(2)} ms`,
  });
}

/** Median of each of the parts of `values`. */
export function medians(values: readonly number[]): number[] {
  return parts(values).map(median);
}

/**
 * Splits values in the order of their measurement into five parts, the rounds of a figure of many short measurements.
 */
export function parts<Value>(values: readonly Value[]): Value[][] {
  const startOf = (part: number) => Math.floor((values.length * part) / PARTS);
  return Array.from({ length: PARTS }, (_, part) => values.slice(startOf(part), startOf(part + 1)));
}
