import { type Figure, figureOf, mebibytes, median } from './figure.ts';
import { toldBy } from './forked.ts';

const ROUNDS = 3;
const BOUND_BYTES = 256 * 2 ** 20;
/** Large answers, four times as many as fit the bound, and small ones, about as many as fit. */
const FILLINGS = [
  { answers: 10_000, bytes: 100_000, atMost: 2 },
  { answers: 100_000, bytes: 2_000, atMost: 1.6 },
];

interface Grown {
  readonly growth: number;
  readonly peakGrowth: number;
  readonly isLastKept: boolean;
}

/**
 * Growth of the resident set while more answers are stored than the response cache may hold, over the cache's bound.
 * Measured in a separate process after garbage collection, from just before the cache is created.
 */
export async function benchCacheMemory(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const filling of FILLINGS) figures.push(await grownBy(filling));
  return figures;
}

/** Runs its processes concurrently, because they do not affect each other's memory. */
async function grownBy({ answers, bytes, atMost }: (typeof FILLINGS)[number]): Promise<Figure> {
  const rounds = await Promise.all(Array.from({ length: ROUNDS }, () => grown(answers, bytes)));
  const middle = (key: 'growth' | 'peakGrowth') => mebibytes(median(rounds.map(round => round[key])));
  return figureOf({
    name: `growth of memory by ${answers} answers of ${bytes / 1000} kB over the cache's bound of ${mebibytes(BOUND_BYTES)}`,
    rounds: rounds.map(({ growth }) => growth / BOUND_BYTES),
    wanted: { atMost },
    note: `${middle('growth')}; at most ${middle('peakGrowth')} on the way`,
  });
}

async function grown(answers: number, bytes: number): Promise<Grown> {
  const script = new URL('./cache-memory/process.ts', import.meta.url);
  const args = [answers, bytes, BOUND_BYTES].map(String);
  const grown = await toldBy(script, args, { isMessage: isGrown, execArgv: ['--expose-gc'] });
  if (!grown.isLastKept) throw new Error('the cache kept nothing');
  return grown;
}

function isGrown(message: unknown): message is Grown {
  return typeof message === 'object' && message !== null && 'growth' in message && 'peakGrowth' in message;
}
