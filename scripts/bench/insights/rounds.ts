import { type Figure, median } from '../figure.ts';

export interface Rounds {
  readonly warm: number;
  readonly rounds: number;
  readonly timed: (work: () => unknown) => Promise<number>;
}

export const QUICK: Rounds = { warm: 32, rounds: 201, timed: wallMs };

type Times = readonly [under: number[], over: number[]];

/** Milliseconds, round by round; who goes first changes. */
export async function inTurns(
  { warm, rounds, timed }: Rounds,
  [under, over]: readonly [(round: number) => unknown, (round: number) => unknown],
): Promise<Times> {
  const times: Times = [[], []];
  for (let round = 0; round < warm + rounds; round++) {
    const turns = [() => timed(() => under(round)), () => timed(() => over(round))] as const;
    const isOverFirst = round % 2 === 1;
    const second = isOverFirst ? await turns[1]() : undefined;
    const first = await turns[0]();
    const other = second ?? (await turns[1]());
    if (round < warm) continue;
    times[0].push(first);
    times[1].push(other);
  }
  return times;
}

export async function wallMs(work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Median of the second times over that of the first. */
export function ratio(name: string, [under, over]: Times, target: number): Figure {
  const value = median(over) / median(under);
  return {
    name,
    value,
    target: `≤ ${target}`,
    ok: value <= target,
    note: `${median(over).toFixed(2)} ms of ${median(under).toFixed(2)} ms`,
  };
}
