import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** Watch of all descendants of this process, by Linux's `/proc`. */
export interface ProcessWatch {
  /** Largest total memory of all processes including this one, in bytes. Shared pages count once (PSS). */
  readonly mostBytes: number;
  /** Largest memory of one process in bytes, by the label of its command line. */
  readonly mostBytesOf: ReadonlyMap<string, number>;
  stop(): Promise<void>;
  /** Command lines of descendants that still run. */
  left(): Promise<string[]>;
}

const EVERY_MS = 2_000;

/** Watches memory and records every process until `stop`. */
export function watchProcesses(label: (commandLine: string) => string): ProcessWatch {
  const seen = new Map<number, string>();
  const mostBytesOf = new Map<string, number>();
  const ended = new AbortController();
  let mostBytes = 0;
  const watching = watch();

  return {
    get mostBytes() {
      return mostBytes;
    },
    mostBytesOf,
    async stop() {
      ended.abort();
      await watching;
    },
    async left() {
      const rest = await Promise.all(
        [...seen].map(async ([pid, commandLine]) => {
          const same = (await commandLineOf(pid)) === commandLine && (await stateOf(pid)) !== 'Z';
          return same ? [`${pid} ${commandLine.slice(0, 120)}`] : [];
        }),
      );
      return rest.flat();
    },
  };

  async function watch(): Promise<void> {
    while (!ended.signal.aborted) {
      await look();
      await delay(EVERY_MS, undefined, { signal: ended.signal }).catch(() => {});
    }
  }

  async function look(): Promise<void> {
    let sum = await memoryOf(process.pid);
    for (const pid of await below(process.pid)) {
      const commandLine = await commandLineOf(pid);
      if (commandLine === undefined || commandLine === '') continue;
      seen.set(pid, commandLine);
      const bytes = await memoryOf(pid);
      sum += bytes;
      const name = label(commandLine);
      mostBytesOf.set(name, Math.max(mostBytesOf.get(name) ?? 0, bytes));
    }
    mostBytes = Math.max(mostBytes, sum);
  }
}

async function below(ancestor: number): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger);
  const parents = new Map<number, number>();
  for (const pid of pids) {
    const stat = await textOf(`/proc/${pid}/stat`);
    parents.set(pid, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
  }
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && (parent === ancestor || isBelow(parent));
  };
  return pids.filter(isBelow);
}

async function memoryOf(pid: number): Promise<number> {
  const kib = /^Pss:\s+(\d+) kB$/m.exec(await textOf(`/proc/${pid}/smaps_rollup`))?.[1];
  return Number(kib ?? 0) * 1024;
}

async function commandLineOf(pid: number): Promise<string | undefined> {
  const text = await textOf(`/proc/${pid}/cmdline`);
  return text === '' ? undefined : text.split('\0').join(' ').trim();
}

async function stateOf(pid: number): Promise<string | undefined> {
  const stat = await textOf(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2)[0];
}

/** Content of a file; empty when the process has ended. */
async function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
