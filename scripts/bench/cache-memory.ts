import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';

const BOUND_BYTES = 256 * 2 ** 20;
/** Large answers, four times as many as the bound has room for, and small ones, about as many as it has. */
const FILLINGS = [
  { answers: 10_000, bytes: 100_000, target: 2 },
  { answers: 100_000, bytes: 2_000, target: 1.6 },
];

interface Grown {
  readonly growth: number;
  readonly peakGrowth: number;
  readonly isLastKept: boolean;
}

/**
 * Growth of the resident set by more answers than the response cache may hold, over its bound: in a process of its own,
 * after collecting garbage, from the moment before the cache is made.
 */
export async function benchCacheMemory(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const filling of FILLINGS) figures.push(await grownBy(filling));
  return figures;
}

async function grownBy({ answers, bytes, target }: (typeof FILLINGS)[number]): Promise<Figure> {
  const script = fileURLToPath(new URL('./cache-memory/process.ts', import.meta.url));
  const args = [answers, bytes, BOUND_BYTES].map(String);
  const { growth, peakGrowth, isLastKept } = await told(
    fork(script, args, { execArgv: ['--expose-gc'], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
  );
  if (!isLastKept) throw new Error('the cache kept nothing');
  const ratio = growth / BOUND_BYTES;
  return {
    name: `growth of memory by ${answers} answers of ${bytes / 1000} kB over the cache's bound of 256 MiB`,
    value: ratio,
    target: `≤ ${target}`,
    ok: ratio <= target,
    note: `${mebibytes(growth)}; at most ${mebibytes(peakGrowth)} on the way`,
  };
}

function told(child: ChildProcess): Promise<Grown> {
  return new Promise((resolve, reject) => {
    child.once('exit', code => reject(new Error(`the process ended with ${code}`)));
    child.once('message', message => {
      if (isGrown(message)) resolve(message);
      else reject(new Error('the process told something else'));
    });
  });
}

function isGrown(message: unknown): message is Grown {
  return typeof message === 'object' && message !== null && 'growth' in message && 'peakGrowth' in message;
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}
