import { type ChildProcess, fork, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Leap, Ready, ServiceOrder } from './terms.ts';

/** The payments service in a process that may be killed. Database and clock continue across restarts. */
export interface KillableService {
  readonly url: string;
  /** Kills it with SIGKILL and restarts it at the same address. */
  killAndRestart(): Promise<void>;
  /** Advances its clock by `ms` milliseconds of that clock. */
  leap(ms: number): void;
  /** Lets it end by itself. Returns its exit code, or null when it had to be killed. */
  stop(): Promise<number | null>;
  readonly kills: number;
  /** Complete log of all its processes. */
  log(): string;
}

const PROGRAM = fileURLToPath(new URL('./service-process.ts', import.meta.url));
const STARTS_WITHIN_MS = 10_000;
const STOPS_WITHIN_MS = 12_000;

/** Starts the service with its files in `folder`. Rejects when it does not listen within ten seconds. */
export async function startService(
  folder: string,
  terms: Pick<ServiceOrder, 'startedAt' | 'speed' | 'rpcUrls'>,
): Promise<KillableService> {
  const lines: Buffer[] = [];
  let leaptMs = 0;
  let kills = 0;
  let { child, url } = await begin(0);
  const { port } = new URL(url);

  return {
    url,
    async killAndRestart() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      kills += 1;
      ({ child, url } = await begin(Number(port)));
    },
    leap(ms) {
      leaptMs += ms;
      child.send({ leaptMs } satisfies Leap);
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const gone = once(child, 'exit');
      const late = setTimeout(() => child.kill('SIGKILL'), STOPS_WITHIN_MS);
      child.disconnect();
      await gone;
      clearTimeout(late);
      return child.exitCode;
    },
    get kills() {
      return kills;
    },
    log: () => Buffer.concat(lines).toString(),
  };

  async function begin(port: number): Promise<{ child: ChildProcess; url: string }> {
    const order: ServiceOrder = {
      ...terms,
      file: join(folder, 'payments.db'),
      mailFolder: join(folder, 'mail'),
      port,
      leaptMs,
    };
    const stdio: StdioOptions = ['ignore', 'pipe', 'pipe', 'ipc'];
    const started = fork(PROGRAM, [JSON.stringify(order)], { stdio });
    for (const stream of [started.stdout, started.stderr]) {
      stream?.on('data', (chunk: Buffer) => lines.push(chunk));
    }
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const fail = (why: string) => reject(new Error(`the service ${why}\n${Buffer.concat(lines.slice(-20))}`));
    const late = setTimeout(() => fail('did not start in time'), STARTS_WITHIN_MS);
    const ended = (code: number | null) => fail(`ended with ${code} while it started`);
    started.once('exit', ended);
    started.once('message', (ready: Ready) => resolve(ready.url));
    try {
      return { child: started, url: await promise };
    } catch (error) {
      started.kill('SIGKILL');
      throw error;
    } finally {
      clearTimeout(late);
      started.off('exit', ended);
    }
  }
}
