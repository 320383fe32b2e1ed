import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import autocannon, { type Request } from 'autocannon';
import type { LoopReport } from './stalls/event-loop.ts';

/** A bench server in its own process. */
export interface ServerProcess extends AsyncDisposable {
  readonly url: string;
  /** CPU time used so far, user and system, in microseconds. */
  cpuMicros(): Promise<number>;
  /** Memory of JavaScript and of its buffers after a garbage collection, in bytes. */
  memoryBytes(): Promise<number>;
  /** Report on its event loop since the previous call. The first call starts the measurement. */
  eventLoop(): Promise<LoopReport>;
}

/** Starts `scripts/bench/server.ts`. Its log is written, but discarded. */
export async function startServer(...args: string[]): Promise<ServerProcess> {
  const child = fork(fileURLToPath(new URL('./server.ts', import.meta.url)), args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [...process.execArgv, '--expose-gc'],
  });
  const { url } = await reply<{ url: string }>(child);
  return {
    url,
    async cpuMicros() {
      const answer = reply<{ cpu: NodeJS.CpuUsage }>(child);
      child.send('cpu');
      const { cpu } = await answer;
      return cpu.user + cpu.system;
    },
    async memoryBytes() {
      const answer = reply<{ memory: number }>(child);
      child.send('memory');
      return (await answer).memory;
    },
    async eventLoop() {
      const answer = reply<{ loop: LoopReport }>(child);
      child.send('loop');
      return (await answer).loop;
    },
    async [Symbol.asyncDispose]() {
      const gone = new Promise(resolve => child.once('exit', resolve));
      child.disconnect();
      await gone;
    },
  };
}

function reply<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    const lost = (code: number | null) => reject(new Error(`a bench server ended with ${code}`));
    child.once('exit', lost);
    child.once('message', message => {
      child.off('exit', lost);
      resolve(message as Message);
    });
  });
}

export interface Load {
  readonly requestsPerSecond: number;
  readonly cpuMicrosPerRequest: number;
}

/** Requests to send in turn, for some seconds, over `connections` connections at once (50 when absent). */
export interface LoadOptions {
  readonly requests: readonly Request[];
  readonly seconds: number;
  readonly connections?: number;
}

/** Requests some paths in turn for some seconds, and measures the rate and the server's CPU time. */
export function load(server: ServerProcess, paths: readonly string[], seconds: number): Promise<Load> {
  return loadWith(server, { requests: paths.map(path => ({ method: 'GET', path })), seconds });
}

/** Like `load`, with any requests. @throws Error when one of them is refused or fails */
export async function loadWith(
  server: ServerProcess,
  { requests, seconds, connections = 50 }: LoadOptions,
): Promise<Load> {
  const before = await server.cpuMicros();
  const result = await autocannon({
    url: server.url,
    connections,
    duration: seconds,
    requests: [...requests],
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${requests[0]?.path}: ${result.non2xx} refused, ${result.errors} failed`);
  const cpu = (await server.cpuMicros()) - before;
  const total = result.requests.total;
  return { requestsPerSecond: total / result.duration, cpuMicrosPerRequest: cpu / total };
}
