import { type Coding, uncompressed, withForm } from '../../http/representation.ts';
import { toJson } from '../../lib/json.ts';
import type { Entry } from '../cache/entry.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import type { Lifetime } from './lifetime.ts';

/** An answer that is wanted, and how to make it. */
export interface AnswerRequest {
  readonly operation: string;
  /** Its identity: equal keys have equal answers. */
  readonly key: string;
  /** What it would be made from now. Who asks later, when that has changed, does not join a load from before. */
  readonly moment: string;
  /** Rejects with the HttpError that a client is to hear. */
  make(signal: AbortSignal): Promise<FreshAnswer>;
}

/** An answer that was just made, with where it is from and how long it may be kept. */
export interface FreshAnswer {
  /** A Buffer holds its JSON text, anything else is its value. */
  readonly body: unknown;
  readonly chainIds: readonly number[];
  readonly backends: readonly string[];
  /** As an entry has it. */
  readonly watched?: readonly string[];
  readonly lifetime: Lifetime;
}

export interface Load extends AnswerRequest {
  /** A client asked for it to be made again: a load that is under way is not what it wants. */
  readonly forced: boolean;
  /** The form that is made with it, because the client that began the load wants it. */
  readonly coding: Coding;
}

export interface LoadResult {
  readonly entry: Entry;
  /** Whether the cache keeps it. */
  readonly stored: boolean;
}

export interface Loader {
  /** Everybody who asks for the same thing meanwhile gets the same outcome. */
  load(wanted: Load): Promise<LoadResult>;
  /** Aborts the loads under way, whoever wants them, and resolves when the last one has ended. */
  close(): Promise<void>;
}

/**
 * Makes answers, one load per key at a time, and keeps them. A load has its own deadline, so that a client hanging up
 * fails nobody else.
 */
export function loader({ cache, loadTimeoutMs }: { cache: ResponseCache; loadTimeoutMs: number }): Loader {
  const closing = new AbortController();
  const running = new Map<string, Promise<LoadResult>>();

  return {
    load(wanted) {
      const flight = `${wanted.key} ${wanted.moment} ${wanted.forced}`;
      const current = running.get(flight);
      if (current !== undefined) return current;
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(loadTimeoutMs)]);
      const started = makeAndKeep(wanted, signal).finally(() => running.delete(flight));
      running.set(flight, started);
      return started;
    },
    async close() {
      closing.abort();
      await Promise.allSettled(running.values());
    },
  };

  async function makeAndKeep({ key, make, coding }: Load, signal: AbortSignal): Promise<LoadResult> {
    const { body, lifetime, ...origin } = await make(signal);
    const representation = await withForm(uncompressed(Buffer.isBuffer(body) ? body : toJson(body)), coding);
    const entry: Entry = { representation, ...origin, ...lifetime };
    return { entry, stored: cache.set(key, entry) };
  }
}
