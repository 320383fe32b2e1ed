import type { Interest, ReportedEvent } from './messages.ts';

/** Event of the stream with its cursor, from which another stream continues. */
export interface StreamEvent {
  readonly cursor: string;
  readonly event: ReportedEvent;
}

/** The server refused the stream, or the stream broke. */
export class StreamProblem extends Error {
  /** Delay that the server requests before a retry. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs = 0) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** A server sends a comment more often than this. A connection that is silent for longer is lost. */
const SILENT_MS = 60_000;
/** An event has a few hundred characters, and at most 256 hashes. */
const MOST_CHARACTERS = 100_000;

/**
 * Reads one stream to its end. Resolves when the server ends it. @throws StreamProblem
 */
export async function readStream(
  interest: Interest,
  { cursor, signal }: { cursor: string | undefined; signal: AbortSignal },
  { onOpen, onEvent }: { onOpen: () => void; onEvent: (event: StreamEvent) => void },
): Promise<void> {
  const response = await fetch(`/explorer/live?${queryOf(interest, cursor)}`, { signal, cache: 'no-store' });
  const seconds = Number(response.headers.get('Retry-After') ?? 0);
  if (!response.ok || response.body === null)
    throw new StreamProblem(`The server answered ${response.status}.`, (seconds || 0) * 1000);
  onOpen();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await withinSilence(reader);
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop() ?? '';
    if (rest.length > MOST_CHARACTERS) throw new StreamProblem('An event has no end.');
    for (const block of blocks) {
      const event = eventIn(block);
      if (event !== undefined) onEvent(event);
    }
  }
}

async function withinSilence(reader: ReadableStreamDefaultReader<string>) {
  const silence = Promise.withResolvers<never>();
  const timer = setTimeout(() => silence.reject(new StreamProblem('The stream is silent.')), SILENT_MS);
  try {
    return await Promise.race([reader.read(), silence.promise]);
  } catch (reason) {
    reader.cancel().catch(() => undefined);
    throw reason;
  } finally {
    clearTimeout(timer);
  }
}

function queryOf({ chainIds, watches }: Interest, cursor: string | undefined): string {
  const query = new URLSearchParams();
  for (const id of chainIds ?? []) query.append('chain_id', String(id));
  for (const watch of watches) query.append('watch', watch);
  if (cursor !== undefined) query.set('cursor', cursor);
  return query.toString();
}

/** Event in the lines of one block (HTML, "Server-sent events"); undefined for a comment or a pause. */
export function eventIn(block: string): StreamEvent | undefined {
  const valuesOf = (field: string) =>
    block
      .split('\n')
      .filter(line => line.startsWith(`${field}:`))
      .map(line => line.slice(field.length + 1).replace(/^ /, ''));
  const data = valuesOf('data');
  if (data.length === 0) return undefined;
  return { cursor: valuesOf('id').at(-1) ?? '', event: JSON.parse(data.join('\n')) };
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Pause after consecutive failures: at most a second after the first, because a server that restarts ends all of its
 * streams, and spread, because all clients return. `chance` is from 0 to 1.
 */
export function streamPause(failures: number, retryAfterMs: number, chance: number): number {
  const longest = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
  return Math.max(retryAfterMs, failures > 1 ? longest / 2 : 0) + (chance * longest) / 2;
}
