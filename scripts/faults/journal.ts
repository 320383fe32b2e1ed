import { createLogger, type Logger } from '../../src/lib/logger.ts';
import { parsed } from '../contract/judge.ts';

/** The service's log, read as it is written. */
export interface Journal {
  readonly log: Logger;
  /** Lines so far, by their message. */
  count(message: string): number;
  /** Lines so far that are errors, or tell one of the secrets. */
  readonly offences: readonly string[];
}

const ERROR = 50;

/** A log that is judged and counted, and written nowhere. */
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
