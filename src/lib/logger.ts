import { type DestinationStream, type Logger as PinoLogger, pino, stdSerializers } from 'pino';
import type { Clock } from './clock.ts';

export type Logger = PinoLogger;

/** The clock and the log, which most parts are given. */
export interface ClockAndLog {
  readonly clock: Clock;
  readonly log: Logger;
}

export interface LoggerOptions {
  /** trace, debug, info, warn, error, fatal or silent. */
  level: string;
  /** `json` (the default): one JSON object per line; `text`: one readable line per entry. */
  format?: 'json' | 'text';
  /** Destination of the lines; standard output when absent. */
  destination?: DestinationStream;
  /**
   * True when other processes write to the same standard output: lines of up to 4 KiB are never interleaved. False when
   * absent.
   */
  sharesOutput?: boolean;
}

/** Creates a structured logger that writes one line per entry. */
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
    : pino(options, { ...sink, write: line => sink.write(textLine(line)) });
}

/** Logger that discards its entries. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}

/**
 * Logger for knex's `log` option; by default knex writes to the console. knex also throws the errors that it logs, so
 * nothing is lost without a logger.
 */
export function driverLog(log: Logger | undefined) {
  const warn = (message: unknown) => log?.warn({ detail: String(message) }, 'the database driver warns');
  return { warn, error: warn, deprecate: warn, debug: () => undefined };
}

/**
 * Matches an address and captures its scheme and host. Addresses of nodes, back ends and stores often hold a key or a
 * password in the path, the query or before the `@`. A password may contain quotes and further `@`. No part repeats
 * inside another, so matching takes linear time.
 */
const ADDRESS = /\b((?:https?|rediss?|postgres(?:ql)?|smtps?):\/\/)(?:[^\s/?#]*@)?([^\s"'\\/?#]*)[^\s"'\\]*/g;

/** Fields of PostgreSQL errors that contain values of the offending row. */
const ROW_FIELDS: readonly string[] = ['detail', 'where', 'internalQuery'];

/** Serializes an error for the log, with addresses cut to their host and without row values. */
function withoutAddresses(error: Error): unknown {
  const shown = JSON.stringify(stdSerializers.err(error), (name, value: unknown) => {
    if (ROW_FIELDS.includes(name)) return undefined;
    if (typeof value === 'string') return cutAddresses(value);
    return typeof value === 'bigint' ? value.toString() : value;
  });
  return JSON.parse(shown);
}

/** Cuts every address in a text to its host. */
export function cutAddresses(text: string): string {
  return text.replace(ADDRESS, '$1$2');
}

/** Bearer ids and keys. A few characters are enough to identify them. */
const BEARER = /\b(cs_|tg_live_|tg_test_|whsec_)([A-Za-z0-9]{0,4})[A-Za-z0-9+/=_-]*/g;

/** Shortens session ids, keys and secrets in a text, which open what they name. */
export function hiddenBearerIds(text: string): string {
  return text.replace(BEARER, '$1$2***');
}

/** Time field of a line in pino's format. Cached per millisecond, because many lines share one under load. */
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

/** Standard output of the process, shared by all its loggers. */
function sharedOutput(batchBytes: number): DestinationStream {
  output ??= buffered(batchBytes);
  return output;
}

const BATCH_BYTES = 16 * 1024;
/** Writes to a pipe of up to this length are atomic. Source: POSIX, `PIPE_BUF`. */
const PIPE_BYTES = 4 * 1024;
const BATCH_MS = 100;

/**
 * Standard output in batches, written at least every 100 ms and at exit. Writing each line separately would cost more
 * than producing most responses. Lines are joined once per batch, because pino's own buffer recomputes its length with
 * each line.
 */
function buffered(batchBytes: number): DestinationStream & { flush(written: () => void): void } {
  const stream = pino.destination({ dest: 1, sync: false, contentMode: 'buffer', maxWrite: batchBytes });
  const direct = pino.destination({ dest: 1, sync: true });
  let lines: string[] = [];
  let length = 0;
  const handOver = () => {
    if (lines.length === 0) return;
    // Bytes are faster than text. In this mode pino accepts them, although its types allow only text.
    Reflect.apply(stream.write, stream, [Buffer.from(lines.join(''))]);
    lines = [];
    length = 0;
  };
  // A background write may not finish once the process is exiting.
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
    /** Calls `written` once the lines up to this one are written. */
    flush(written) {
      if (lines.length === 0) return written();
      stream.once('drain', written);
      handOver();
    },
  };
}

/** News with a line for programs, and lines for people. */
export interface Announcement {
  readonly words: string;
  readonly fields: object;
  readonly lines: readonly string[];
}

/** Logs news. On a terminal, prints its lines for people in place of the log line. */
export function announceNews(log: Logger, { words, fields, lines }: Announcement): void {
  if (!process.stdout.isTTY) log.info(fields, words);
  else if (log.isLevelEnabled('info')) sharedOutput(BATCH_BYTES).write(`\n${lines.join('\n')}\n\n`);
}

/** Handler for a failure that must not stop anything: logs the action that failed and continues. */
export function logAndGoOn(log: Logger, doing: string): (error: unknown) => void {
  return error => log.warn({ err: error }, `failed while ${doing}`);
}

/** Logs one line at level `info`. */
export type LogLine = (fields: object, message: string) => void;

const WINDOW_MS = 1_000;
const MAX_PER_WINDOW = 500;

/**
 * Logs at most 500 lines per second and message, because a burst of them would fill the disk. `more` counts the lines
 * that were left out before a line.
 */
export function boundedLines({ clock, log }: { clock: Clock; log: Logger }): LogLine {
  const windows = new Map<string, { readonly begunAt: number; lines: number; more: number }>();
  return (fields, message) => {
    const now = clock.now();
    const known = windows.get(message);
    // `abs`: the clock may have been set back.
    const isOver = known === undefined || Math.abs(now - known.begunAt) >= WINDOW_MS;
    const window = isOver ? { begunAt: now, lines: 0, more: known?.more ?? 0 } : known;
    if (isOver) windows.set(message, window);
    if (window.lines >= MAX_PER_WINDOW) {
      window.more += 1;
      return;
    }
    window.lines += 1;
    log.info(window.more === 0 ? fields : { ...fields, more: window.more }, message);
    window.more = 0;
  };
}

const LEVELS: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO ',
  40: 'WARN ',
  50: 'ERROR',
  60: 'FATAL',
};

/** Formats a JSON log entry for people: time, level, message, the other fields, and the error's stack below. */
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

/** Values with spaces or line breaks are quoted as JSON, which keeps the entry on one line. */
function shown(value: unknown): string {
  return typeof value === 'string' && /^[\w.:/-]+$/.test(value) ? value : JSON.stringify(value);
}
