import { setTimeout as delay } from 'node:timers/promises';
import { type ApiClient, type ApiRequest, apiClient, type Reply } from '../../src/command/api/client.ts';
import type { Interruptions } from './interruptions.ts';
import type { Member } from './member.ts';

/** What a client of the fleet reports to. */
export interface Observers {
  readonly interruptions: Interruptions;
  /** Takes a sentence about something that must not happen. */
  readonly violation: (sentence: string) => void;
}

interface Replicas {
  readonly replicas: readonly Pick<Member, 'name' | 'url' | 'isReady'>[];
  readonly key: string;
  readonly observers: Observers;
}

/** True for an answer that a replica may not give while nothing is broken. */
type Judge = (reply: Reply<unknown>, replica: { readonly wasReady: boolean }) => boolean;

const PAUSE_MS = 50;
const GIVES_UP_AFTER_MS = 60_000;
const UNAVAILABLE = 503;

/**
 * A client of several replicas, in turn. As a load balancer would, it takes the next one when a connection fails or the
 * answer is 503, and notes the time until an answer. A graceful disruption may refuse connections, and a process that is not
 * ready may answer 503, as the contract says of one that starts: anything else is a violation.
 */
export function replicaClient(replicas: Replicas): ApiClient {
  const { interruptions, violation } = replicas.observers;
  const askNext = nextReplica(replicas, (reply, { wasReady }) => {
    return isCutOff(reply) || (isUnavailable(reply) && wasReady);
  });

  return {
    async ask<Body>(request: ApiRequest): Promise<Reply<Body>> {
      const startedAt = Date.now();
      const kind = request.method === undefined ? 'read' : 'write';
      for (let attempt = 1; ; attempt += 1) {
        const reply = await askNext<Body>(request);
        const ms = Date.now() - startedAt;
        if (!isPassing(reply) || ms > GIVES_UP_AFTER_MS) {
          interruptions.note({ kind, startedAt, ms });
          judge(reply, `${request.method ?? 'GET'} ${request.path}`);
          return reply;
        }
        if (attempt % replicas.replicas.length === 0) await delay(PAUSE_MS);
      }
    },
  };

  function judge(reply: Reply<unknown>, request: string): void {
    const { name } = interruptions.current();
    if (reply.kind === 'away') violation(`${name}: ${request}: no answer within 60 s: ${reply.message}`);
    if (reply.kind === 'refused' && reply.status >= 500)
      violation(`${name}: ${request}: ${reply.status}: ${reply.message}`);
  }
}

/**
 * A client of several replicas that asks the next one once, whatever comes of it. It may be told 503, as of a block that the
 * index does not have yet, but a graceful disruption may not cut it off.
 */
export function turningClient(replicas: Omit<Replicas, 'key'>): ApiClient {
  return { ask: nextReplica({ ...replicas, key: '' }, isCutOff) };
}

/** Asks the next replica, and reports an answer that it may not give. */
function nextReplica({ replicas, key, observers }: Replicas, isViolation: Judge) {
  const { interruptions, violation } = observers;
  const clients = replicas.map(replica => ({ replica, client: apiClient({ url: replica.url, key }) }));
  let turn = 0;

  return async <Body>(request: ApiRequest): Promise<Reply<Body>> => {
    const next = clients[turn++ % clients.length];
    if (next === undefined) throw new Error('there is no replica');
    const { name, isReady } = next.replica;
    const [before, wasReady] = [interruptions.current(), isReady()];
    const reply = await next.client.ask<Body>(request);
    const isGraceful = before.isGraceful && interruptions.current().isGraceful;
    if (isGraceful && isViolation(reply, { wasReady }))
      violation(
        `${before.name}: ${request.method ?? 'GET'} ${request.path} is lost: ${name}: ${causeOf(reply)}`,
      );
    return reply;
  };
}

function isPassing(reply: Reply<unknown>): boolean {
  return reply.kind === 'away' || isUnavailable(reply);
}

function isUnavailable(reply: Reply<unknown>): boolean {
  return reply.kind === 'refused' && reply.status === UNAVAILABLE;
}

/** True for a connection that was accepted, or timed out, and brought no answer. */
function isCutOff(reply: Reply<unknown>): boolean {
  return reply.kind === 'away' && reply.code !== 'ECONNREFUSED';
}

function causeOf(reply: Reply<unknown>): string {
  if (reply.kind === 'away') return `${reply.code}: ${reply.message}`;
  return reply.kind === 'refused' ? `${reply.status}: ${reply.message}` : reply.kind;
}
