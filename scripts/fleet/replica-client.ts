import { setTimeout as delay } from 'node:timers/promises';
import { type ApiClient, type ApiRequest, apiClient, type Reply } from '../../src/command/api/client.ts';
import type { Interruptions } from './interruptions.ts';

/** What a client of the fleet reports to. */
export interface Observers {
  readonly interruptions: Interruptions;
  /** Takes a sentence about something that must not happen. */
  readonly violation: (sentence: string) => void;
}

interface Replicas {
  readonly urls: readonly string[];
  readonly key: string;
  readonly observers: Observers;
}

const PAUSE_MS = 50;
const GIVES_UP_AFTER_MS = 60_000;
const UNAVAILABLE = 503;

/**
 * A client of several replicas, in turn. As a load balancer would, it takes the next one when a connection fails or the
 * answer is 503, and notes the time until an answer.
 */
export function replicaClient({ urls, key, observers }: Replicas): ApiClient {
  const clients = urls.map(url => apiClient({ url, key }));
  let turn = 0;

  return {
    async ask<Body>(request: ApiRequest): Promise<Reply<Body>> {
      const startedAt = Date.now();
      const kind = request.method === undefined ? 'read' : 'write';
      for (let attempt = 1; ; attempt += 1) {
        const client = clients[turn++ % clients.length];
        if (client === undefined) throw new Error('there is no replica');
        const reply = await client.ask<Body>(request);
        const ms = Date.now() - startedAt;
        if (!isPassing(reply) || ms > GIVES_UP_AFTER_MS) {
          observers.interruptions.note({ kind, startedAt, ms });
          judge(reply, `${request.method ?? 'GET'} ${request.path}`);
          return reply;
        }
        if (attempt % clients.length === 0) await delay(PAUSE_MS);
      }
    },
  };

  function judge(reply: Reply<unknown>, request: string): void {
    const disruption = observers.interruptions.current();
    if (reply.kind === 'away')
      observers.violation(`${disruption}: ${request}: no answer within 60 s: ${reply.message}`);
    if (reply.kind === 'refused' && reply.status >= 500)
      observers.violation(`${disruption}: ${request}: ${reply.status}: ${reply.message}`);
  }
}

function isPassing(reply: Reply<unknown>): boolean {
  return reply.kind === 'away' || (reply.kind === 'refused' && reply.status === UNAVAILABLE);
}

/** A client of several replicas that asks the next one once, whatever comes of it. */
export function turningClient(urls: readonly string[]): ApiClient {
  const clients = urls.map(url => apiClient({ url, key: '' }));
  let turn = 0;
  return {
    ask<Body>(request: ApiRequest): Promise<Reply<Body>> {
      const client = clients[turn++ % clients.length];
      if (client === undefined) throw new Error('there is no replica');
      return client.ask<Body>(request);
    },
  };
}
