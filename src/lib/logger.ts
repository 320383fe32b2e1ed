import { type DestinationStream, type Logger as PinoLogger, pino, stdSerializers } from 'pino';
import { textLine } from './pretty-log.ts';

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
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: withoutAddresses },
  };
  return format === 'json'
    ? pino(options, sink)
    : pino(options, { write: line => sink.write(textLine(line)) });
}

/** An address up to its host: nodes and back ends are often reached with a key in the path, the query or before the `@`. */
const ADDRESS = /\b(https?:\/\/)(?:[^\s"'\\/@]*@)?([^\s"'\\/?#]+)[^\s"'\\]*/g;

/** Fields of PostgreSQL's errors that repeat values of the row at fault. */
const ROW_FIELDS: readonly string[] = ['detail', 'where', 'internalQuery'];

/** An error for the log, every address in it cut to its host and without the values of a row. */
function withoutAddresses(error: Error): unknown {
  const shown = JSON.stringify(stdSerializers.err(error), (name, value: unknown) => {
    if (ROW_FIELDS.includes(name)) return undefined;
    return typeof value === 'bigint' ? value.toString() : value;
  });
  return JSON.parse(shown.replace(ADDRESS, '$1$2'));
}

/** Lines leave in batches, at least every 100 ms and at the end: a write a line costs more than most answers. */
function buffered(): DestinationStream {
  return pino.destination({ dest: 1, sync: false, minLength: 4096, periodicFlush: 100 });
}

/** For a failure that must not stop anything: says what was being done and goes on. */
export function logAndGoOn(log: Logger, doing: string): (error: unknown) => void {
  return error => log.warn({ err: error }, `failed while ${doing}`);
}
