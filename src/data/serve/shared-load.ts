import { type Coding, uncompressed, withForm } from '../../http/representation.ts';
import { toJson } from '../../lib/json.ts';
import { type CountedClient, type WaitingClients, waitingClients } from '../../lib/request-counters.ts';
import type { Entry } from '../cache/entry.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import type { Lifetime } from './lifetime.ts';

/** A requested answer, with the function that makes it. */
export interface AnswerRequest {
  readonly operation: string;
  /** Identity of the answer: equal keys have equal answers. */
  readonly key: string;
  /** Fingerprint of the data the answer is built from. A request with another fingerprint starts its own load. */
  readonly dataVersion: string;
  /** Makes the answer. Rejects with the HttpError for the client. */
  make(signal: AbortSignal, clients: WaitingClients): Promise<FreshAnswer>;
}

/** A freshly loaded answer, with its origin and its lifetime. */
export interface FreshAnswer {
  /** A Buffer holds JSON text; anything else is a value. */
  readonly body: unknown;
  readonly chainIds: readonly number[];
  readonly backends: readonly string[];
  /** As in `Entry`. */
  readonly watched?: readonly string[];
  readonly lifetime: Lifetime;
}

export interface Load extends AnswerRequest {
  /** True for a reload requested by a client, which must not share a load that is already running. */
  readonly forced: boolean;
  /** Encoding made with the answer, because the first client wants it. */
  readonly coding: Coding;
  /** The requesting client; undefined when it is not counted. */
  readonly client: CountedClient | undefined;
}

export interface LoadResult {
  readonly entry: Entry;
  /** True when the cache stored the entry. */
  readonly stored: boolean;
}

export interface Loader {
  /** Concurrent requests for the same answer share one load. */
  load(wanted: Load): Promise<LoadResult>;
  /** Aborts the running loads, even those with readers. Resolves when the last one has ended. */
  close(): Promise<void>;
}

/**
 * Loads answers, one load per key at a time, and stores them. A load has its own deadline, so a client that hangs up
 * does not fail the others. Its queries run in the turn of any client that waits for it.
 */
export function loader({ cache, loadTimeoutMs }: { cache: ResponseCache; loadTimeoutMs: number }): Loader {
  const closing = new AbortController();
  const running = new Map<
    string,
    { readonly result: Promise<LoadResult>; readonly clients: WaitingClients }
  >();

  return {
    load(wanted) {
      const flight = `${wanted.key} ${wanted.dataVersion} ${wanted.forced}`;
      const current = running.get(flight);
      if (current !== undefined) {
        current.clients.join(wanted.client);
        return current.result;
      }
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(loadTimeoutMs)]);
      const clients = waitingClients(wanted.client);
      const result = makeAndKeep(wanted, signal, clients).finally(() => running.delete(flight));
      running.set(flight, { result, clients });
      return result;
    },
    async close() {
      closing.abort();
      await Promise.allSettled([...running.values()].map(({ result }) => result));
    },
  };

  async function makeAndKeep(
    { key, make, coding }: Load,
    signal: AbortSignal,
    clients: WaitingClients,
  ): Promise<LoadResult> {
    const { body, lifetime, ...origin } = await make(signal, clients);
    const representation = await withForm(uncompressed(Buffer.isBuffer(body) ? body : toJson(body)), coding);
    const entry: Entry = { representation, ...origin, ...lifetime };
    return { entry, stored: cache.set(key, entry) };
  }
}
