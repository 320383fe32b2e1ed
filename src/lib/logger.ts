import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

/** A structured logger on standard output, one JSON line an entry. */
export function createLogger({ level }: { level: string }): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime });
}

/** For a failure that must not stop anything: says what was being done and goes on. */
export function logAndGoOn(log: Logger, doing: string): (error: unknown) => void {
  return error => log.warn({ err: error }, `failed while ${doing}`);
}
