import type { Logger } from '../lib/logger.ts';

/** Time for the last log line to be written. Standard output may be a pipe that nothing reads. */
const LOG_WITHIN_MS = 5_000;

/**
 * Kills this process unless it exits by itself within about `withinMs`. Call it when everything is closed: a thread
 * inside an SQLite statement cannot be interrupted, and even `process.exit` waits for it. The signal is SIGTERM, which
 * supervisors count as a stop, or SIGKILL when `process.exitCode` reports a failure.
 */
export function endProcess({ withinMs, log }: { withinMs: number; log: Logger }): void {
  const kill = () => {
    process.removeAllListeners('SIGTERM');
    process.kill(process.pid, process.exitCode ? 'SIGKILL' : 'SIGTERM');
  };
  const announce = () => {
    log.warn('something is still running after shutdown: killing the process');
    setTimeout(kill, LOG_WITHIN_MS).unref();
    log.flush(kill);
  };
  setTimeout(announce, withinMs).unref();
}

/**
 * Exits this process at once with `process.exitCode`. Used when a stop signal arrives during startup, which may wait
 * minutes for a database.
 */
export function exitProcess(): void {
  // A thread inside an SQLite statement delays the exit. A second signal must still be able to kill the process.
  process.removeAllListeners('SIGTERM');
  process.removeAllListeners('SIGINT');
  process.exit();
}

const PARENT_EVERY_MS = 500;

/** Resolves with the reason when the process must stop: a signal, or the end of the process `parent`. */
export function stopRequest({ parent }: { parent: number | undefined }): Promise<string> {
  return Promise.race([stopSignal(), ...(parent === undefined ? [] : [endOf(parent)])]);
}

/**
 * Resolves with the first signal. The next SIGTERM is ignored: a launcher passes on a signal that has also reached this
 * process, for example from a service manager. A third one kills.
 */
function stopSignal(): Promise<string> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        process.once('SIGTERM', () => undefined);
        resolve(signal);
      });
    }
  });
}

/**
 * Resolves when the parent process has ended. npm passes a signal to its shell only, which ends without passing it on,
 * and a killed launcher passes on nothing either. The server would keep running with no process to stop it.
 */
function endOf(parent: number): Promise<string> {
  return new Promise(resolve => {
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      resolve('end of the parent');
    }, PARENT_EVERY_MS);
    timer.unref();
  });
}
