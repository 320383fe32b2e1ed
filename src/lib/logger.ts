import { type DestinationStream, type Logger as PinoLogger, pino, stdSerializers } from 'pino';

export type Logger = PinoLogger;

export interface LoggerOptions {
  /** trace, debug, info, warn, error, fatal or silent. */
  level: string;
  /** `json`: one JSON object a line (the default); `text`: one line for people. */
  format?: 'json' | 'text';
  /** Where lines go; standard output when absent. */
  destination?: DestinationStream;
  /** True where other processes write to the same standard output: lines of up to 4 KiB never mix. False when absent. */
  sharesOutput?: boolean;
}

/** A structured logger, one entry a line. */
export function createLogger({
  level,
  format = 'json',
  destination,
  sharesOutput = false,
}: LoggerOptions): Logger {
  const sink = destination ?? sharedOutput(sharesOutput ? PIPE_BYTES : BATCH_BYTES);
  const options = {
    level,
    base: null,
    timestamp: timeField(),
    serializers: { err: withoutAddresses },
  };
  return format === 'json'
    ? pino(options, sink)
    : pino(options, { write: line => sink.write(textLine(line)) });
}

/** A logger whose entries go nowhere. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}

/**
 * What knex has to say, as its `log` option: by itself it writes to the console. What fails it says as well as throws,
 * so without a logger nothing is lost.
 */
export function driverLog(log: Logger | undefined) {
  const warn = (message: unknown) => log?.warn({ detail: String(message) }, 'the database driver warns');
  return { warn, error: warn, deprecate: warn, debug: () => undefined };
}

/**
 * An address up to its host: nodes, back ends and stores are often reached with a key or a password in the path, the query
 * or before the `@`. A password may hold quotes and further `@`. No part repeats inside another, so the time stays linear.
 */
const ADDRESS = /\b((?:https?|rediss?|postgres(?:ql)?|smtps?):\/\/)(?:[^\s/?#]*@)?([^\s"'\\/?#]*)[^\s"'\\]*/g;

/** Fields of PostgreSQL's errors that repeat values of the row at fault. */
const ROW_FIELDS: readonly string[] = ['detail', 'where', 'internalQuery'];

/** An error for the log, every address in it cut to its host and without the values of a row. */
function withoutAddresses(error: Error): unknown {
  const shown = JSON.stringify(stdSerializers.err(error), (name, value: unknown) => {
    if (ROW_FIELDS.includes(name)) return undefined;
    if (typeof value === 'string') return cutAddresses(value);
    return typeof value === 'bigint' ? value.toString() : value;
  });
  return JSON.parse(shown);
}

/** A text with every address in it cut to its host. */
export function cutAddresses(text: string): string {
  return text.replace(ADDRESS, '$1$2');
}

/** The time of a line as pino writes it. Made once per millisecond, because busy times write many lines in one. */
function timeField(): () => string {
  let madeAt = Number.NaN;
  let field = '';
  return () => {
    const now = Date.now();
    if (now !== madeAt) {
      madeAt = now;
      field = `,"time":"${new Date(now).toISOString()}"`;
    }
    return field;
  };
}

let output: DestinationStream | undefined;

/** Standard output of the process, which all its loggers share. */
function sharedOutput(batchBytes: number): DestinationStream {
  output ??= buffered(batchBytes);
  return output;
}

const BATCH_BYTES = 16 * 1024;
/** A write to a pipe that is no longer than this is never torn by that of another process. Source: POSIX, `PIPE_BUF`. */
const PIPE_BYTES = 4 * 1024;
const BATCH_MS = 100;

/**
 * Standard output in batches, at least every 100 ms and at the end: a write per line costs more than most answers. Lines
 * are joined once per batch, because pino's own buffer measures all it holds again with each line.
 */
function buffered(batchBytes: number): DestinationStream & { flushSync(): void } {
  const stream = pino.destination({ dest: 1, sync: false, contentMode: 'buffer', maxWrite: batchBytes });
  const direct = pino.destination({ dest: 1, sync: true });
  let lines: string[] = [];
  let length = 0;
  const handOver = () => {
    if (lines.length === 0) return;
    // Bytes leave quicker than text. In this mode it takes them, though its types know text only.
    Reflect.apply(stream.write, stream, [Buffer.from(lines.join(''))]);
    lines = [];
    length = 0;
  };
  // A write in the background may not end any more once the process does.
  const flushSync = () => {
    stream.flushSync();
    if (lines.length > 0) direct.write(lines.join(''));
    lines = [];
    length = 0;
  };
  setInterval(handOver, BATCH_MS).unref();
  process.once('exit', flushSync);
  return {
    write(line) {
      const bytes = Buffer.byteLength(line);
      if (length + bytes > batchBytes) handOver();
      lines.push(line);
      length += bytes;
    },
    flushSync,
  };
}

/** For a failure that must not stop anything: says what was being done and goes on. */
export function logAndGoOn(log: Logger, doing: string): (error: unknown) => void {
  return error => log.warn({ err: error }, `failed while ${doing}`);
}

const LEVELS: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO ',
  40: 'WARN ',
  50: 'ERROR',
  60: 'FATAL',
};

/** One JSON log entry as a line for people: time, level, message, the other fields, and an error's stack below. */
function textLine(json: string): string {
  const entry: unknown = JSON.parse(json);
  if (typeof entry !== 'object' || entry === null) return json;
  const { time, level, msg, err, ...fields }: Record<string, unknown> = { ...entry };
  const stack = typeof err === 'object' && err !== null && 'stack' in err ? `\n    ${String(err.stack)}` : '';
  const rest = Object.entries(fields).map(([name, value]) => `${name}=${shown(value)}`);
  const words = [
    String(time),
    LEVELS[Number(level)] ?? String(level),
    ...(msg === undefined ? [] : [String(msg)]),
    ...rest,
  ];
  return `${words.join(' ')}${stack}\n`;
}

/** JSON keeps a value with line breaks or spaces on one line and in one piece. */
function shown(value: unknown): string {
  return typeof value === 'string' && /^[\w.:/-]+$/.test(value) ? value : JSON.stringify(value);
}
