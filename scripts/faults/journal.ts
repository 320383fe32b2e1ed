import { createLogger, type Logger } from '../../src/lib/logger.ts';
import { parsed } from '../contract/judge.ts';

/** Log of the service, checked while it is written. */
export interface Journal {
  readonly log: Logger;
  /** Number of lines with this message so far. */
  count(message: string): number;
  /** Lines so far that are errors or contain a secret. */
  readonly offences: readonly string[];
}

const ERROR = 50;

/** Creates a log that counts and checks its lines, and writes them nowhere. */
export function journal(secrets: readonly string[]): Journal {
  const counts = new Map<string, number>();
  const offences: string[] = [];
  const write = (line: string) => {
    const entry = parsed(line)?.value;
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return;
    const message = String(entry.msg);
    counts.set(message, (counts.get(message) ?? 0) + 1);
    if (Number(entry.level) >= ERROR || secrets.some(secret => line.includes(secret))) offences.push(line);
  };
  return {
    log: createLogger({ level: 'info', destination: { write } }),
    count: message => counts.get(message) ?? 0,
    offences,
  };
}
