import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ChainEngine, Hardfork } from './engine.ts';
import type { SupervisorOrder, SupervisorReport } from './supervisor.ts';

const SUPERVISOR = fileURLToPath(new URL('./supervisor.ts', import.meta.url));
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;

type Supervisor = ChildProcessByStdio<Writable, Readable, null>;

/** One running chain. */
export interface ChainProcess {
  rpcUrl: string;
  engine: ChainEngine;
  hardfork: Hardfork;
  /** Process ids of the supervisor and of the engine. */
  pids: { supervisor: number; engine: number };
  /** Resolves when the chain ends without having been stopped; otherwise never. */
  failed: Promise<Error>;
  /** Ends the chain and removes its folder. Resolves when both are gone. */
  stop(): Promise<void>;
}

/**
 * Starts an engine under a supervisor and waits until it listens on a free port of 127.0.0.1.
 * `genesisTime` in seconds. With `isRunFolderDisposable` the supervisor removes `folder` when this process is killed.
 * @throws Error when the engine ends before it listens, or does not listen within 30 s.
 */
export async function startChainProcess({
  engine,
  hardfork = 'prague',
  chainId,
  folder,
  genesisTime,
  isRunFolderDisposable,
}: {
  engine: ChainEngine;
  hardfork?: Hardfork;
  chainId: number;
  folder: string;
  genesisTime: number;
  isRunFolderDisposable: boolean;
}): Promise<ChainProcess> {
  const chainFolder = join(folder, `chain-${chainId}`);
  await mkdir(chainFolder, { recursive: true });
  const order: SupervisorOrder = {
    binary: engine.binary,
    args: engine.argumentsFor({ chainId, hardfork, genesisTime, cacheFolder: join(chainFolder, 'states') }),
    chainFolder,
    ...(isRunFolderDisposable ? { runFolder: folder } : {}),
  };
  // Detached: an interrupt typed at the terminal reaches only this process, which then stops the chain itself.
  const supervisor = spawn(process.execPath, [SUPERVISOR, JSON.stringify(order)], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
    windowsHide: true,
  });
  supervisor.stdin.on('error', () => {});
  const exited = new Promise<void>(resolve => {
    supervisor.once('exit', () => resolve());
    // Node reports no exit of a process that could not be started.
    supervisor.once('error', () => {
      if (supervisor.pid === undefined) resolve();
    });
  });
  let enginePid: number | undefined;
  let isStopping = false;

  async function stop(): Promise<void> {
    isStopping = true;
    supervisor.stdin.end('stop\n');
    const timer = setTimeout(() => supervisor.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(timer);
    await sweep();
  }

  /** Cleans up in place of a supervisor that was killed before it could. */
  async function sweep(): Promise<void> {
    if (supervisor.signalCode !== null && enginePid !== undefined) kill(enginePid);
    await rm(chainFolder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }

  try {
    const { ended, listening } = reports(supervisor);
    const { pid, port } = await listening;
    enginePid = pid;
    const failed = new Promise<Error>(resolve => {
      void Promise.all([ended, exited]).then(async ([why]) => {
        if (isStopping) return;
        await sweep();
        resolve(new Error(`the embedded chain ${chainId} ended unexpectedly: ${why}`));
      });
    });
    const pids = { supervisor: supervisor.pid ?? 0, engine: pid };
    return { rpcUrl: `http://127.0.0.1:${port}`, engine, hardfork, pids, failed, stop };
  } catch (cause) {
    await stop();
    throw new Error(`the embedded chain ${chainId} did not start`, { cause });
  }
}

/** Reports of a supervisor. `ended` resolves with the reason; `listening` rejects when the end comes first. */
function reports(supervisor: Supervisor): {
  ended: Promise<string>;
  listening: Promise<{ pid: number; port: number }>;
} {
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  const {
    promise: listening,
    resolve: listen,
    reject: fail,
  } = Promise.withResolvers<{ pid: number; port: number }>();
  const timer = setTimeout(() => fail(new Error('the engine did not listen in time')), START_TIMEOUT_MS);
  createInterface({ input: supervisor.stdout }).on('line', line => {
    const report: SupervisorReport = JSON.parse(line);
    if (report.event === 'ended') return end(report.why);
    clearTimeout(timer);
    listen(report);
  });
  supervisor.once('error', error => end(error.message));
  supervisor.once('close', (code, signal) => end(`its supervisor ended with ${signal ?? code}`));
  void ended.then(why => {
    clearTimeout(timer);
    fail(new Error(`the engine ended: ${why}`));
  });
  return { ended, listening };
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
}
