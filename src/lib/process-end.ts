import type { Logger } from './logger.ts';

/** Time in which the last line of the log leaves the process: see `buffered` in `logger.ts`. */
const LOG_LEAVES_MS = 200;

/**
 * Kills this process unless it ends by itself within about `withinMs`. For a process that has closed everything: a
 * thread inside an SQLite statement cannot be interrupted, and even `process.exit` waits for it. The process ends by
 * SIGTERM, which supervisors count as a stop, or by SIGKILL when `process.exitCode` says that it has failed.
 */
export function endProcess({ withinMs, log }: { withinMs: number; log: Logger }): void {
  const kill = () => {
    process.removeAllListeners('SIGTERM');
    process.kill(process.pid, process.exitCode ? 'SIGKILL' : 'SIGTERM');
  };
  const announce = () => {
    log.warn('something has not ended: the process ends without it');
    setTimeout(kill, LOG_LEAVES_MS).unref();
  };
  setTimeout(announce, withinMs).unref();
}

/**
 * Ends this process at once with `process.exitCode`. For a process that is told to stop while it still opens something,
 * which may wait for a database for minutes.
 */
export function exitProcess(): void {
  // A thread inside an SQLite statement delays the end, and a second signal must not.
  process.removeAllListeners('SIGTERM');
  process.removeAllListeners('SIGINT');
  process.exit();
}
