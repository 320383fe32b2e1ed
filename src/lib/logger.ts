import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { textLine } from './text-line.ts';

export type Logger = PinoLogger;

export interface LoggerOptions {
  /** trace, debug, info, warn, error, fatal or silent. */
  level: string;
  /** `json`: one JSON object a line (the default); `text`: one line for people. */
  format?: 'json' | 'text';
  /** Where lines go; standard output when absent. */
  destination?: DestinationStream;
}

/** A structured logger, one entry a line. */
export function createLogger({ level, format = 'json', destination }: LoggerOptions): Logger {
  const sink = destination ?? buffered();
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return format === 'json'
    ? pino(options, sink)
    : pino(options, { write: line => sink.write(textLine(line)) });
}

/** Lines leave in batches, at least every 100 ms and at the end: a write a line costs more than most answers. */
function buffered(): DestinationStream {
  return pino.destination({ dest: 1, sync: false, minLength: 4096, periodicFlush: 100 });
}

/** For a failure that must not stop anything: says what was being done and goes on. */
export function logAndGoOn(log: Logger, doing: string): (error: unknown) => void {
  return error => log.warn({ err: error }, `failed while ${doing}`);
}
