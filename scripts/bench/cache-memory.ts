import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';

const ANSWERS = 10_000;
const ANSWER_BYTES = 100_000;
const BOUND_BYTES = 256 * 2 ** 20;
const TARGET = 2;

interface Grown {
  readonly growth: number;
  readonly peakGrowth: number;
  readonly isLastKept: boolean;
}

/**
 * Growth of the resident set by four times as many answers as the response cache may hold, over its bound: in a process
 * of its own, after collecting garbage, from the moment before the cache is made.
 */
export async function benchCacheMemory(): Promise<Figure[]> {
  const script = fileURLToPath(new URL('./cache-memory/process.ts', import.meta.url));
  const args = [ANSWERS, ANSWER_BYTES, BOUND_BYTES].map(String);
  const { growth, peakGrowth, isLastKept } = await told(
    fork(script, args, { execArgv: ['--expose-gc'], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
  );
  if (!isLastKept) throw new Error('the cache kept nothing');
  const ratio = growth / BOUND_BYTES;
  return [
    {
      name: `growth of memory by ${ANSWERS} answers of 100 kB over the cache's bound of 256 MiB`,
      value: ratio,
      target: `≤ ${TARGET}`,
      ok: ratio <= TARGET,
      note: `${mebibytes(growth)}; at most ${mebibytes(peakGrowth)} on the way`,
    },
  ];
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
