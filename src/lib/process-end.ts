import type { Logger } from './logger.ts';

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
