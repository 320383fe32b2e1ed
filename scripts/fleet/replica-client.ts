import { setTimeout as delay } from 'node:timers/promises';
import { type ApiClient, type ApiReply, type ApiRequest, apiClient } from '../../src/command/api/client.ts';
import type { Interruptions } from './interruptions.ts';

/** Receivers of the reports of a client. */
export interface Observers {
  readonly interruptions: Interruptions;
  /** Reports something that must not happen, in a sentence. */
  readonly violation: (sentence: string) => void;
}

/** A process that serves requests at `url`. */
export interface Replica {
  readonly name: string;
  readonly url: string;
  isReady(): boolean;
}

interface Replicas {
  readonly replicas: readonly Replica[];
  readonly key: string;
  readonly observers: Observers;
}

/** Returns true for an answer that is not allowed during a graceful disruption. */
type Judge = (reply: ApiReply<unknown>, replica: { readonly wasReady: boolean }) => boolean;

const PAUSE_MS = 50;
const GIVES_UP_AFTER_MS = 60_000;
const UNAVAILABLE = 503;

/**
 * Client that uses several replicas in turn and records the time until an answer. Like a load balancer, it retries on
 * the next replica when a connection fails or the answer is 503. During a graceful disruption, connections may be
 * refused, and a process that is not ready may answer 503, as the contract allows. All other failures are violations.
 */
export function replicaClient(replicas: Replicas): ApiClient {
  const { interruptions, violation } = replicas.observers;
  const askNext = nextReplica(replicas, (reply, { wasReady }) => {
    return isCutOff(reply) || (isUnavailable(reply) && wasReady);
  });

  return {
    async ask<Body>(request: ApiRequest): Promise<ApiReply<Body>> {
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

  function judge(reply: ApiReply<unknown>, request: string): void {
    const { name } = interruptions.current();
    if (reply.kind === 'away') violation(`${name}: ${request}: no answer within 60 s: ${reply.message}`);
    if (reply.kind === 'refused' && reply.status >= 500)
      violation(`${name}: ${request}: ${reply.status}: ${reply.message}`);
  }
}

/**
 * Client that uses several replicas in turn without retries. The answer may be 503, for example for a block that the
 * index does not have yet, but a graceful disruption may not break the connection.
 */
export function turningClient(replicas: Omit<Replicas, 'key'>): ApiClient {
  return { ask: nextReplica({ ...replicas, key: '' }, isCutOff) };
}

/** Sends each request to the next replica, and reports answers that are not allowed. */
function nextReplica({ replicas, key, observers }: Replicas, isViolation: Judge) {
  const { interruptions, violation } = observers;
  const clients = replicas.map(replica => ({ replica, client: apiClient({ url: replica.url, key }) }));
  let turn = 0;

  return async <Body>(request: ApiRequest): Promise<ApiReply<Body>> => {
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

function isPassing(reply: ApiReply<unknown>): boolean {
  return reply.kind === 'away' || isUnavailable(reply);
}

function isUnavailable(reply: ApiReply<unknown>): boolean {
  return reply.kind === 'refused' && reply.status === UNAVAILABLE;
}

/** True when a connection was accepted or timed out, but gave no answer. */
function isCutOff(reply: ApiReply<unknown>): boolean {
  return reply.kind === 'away' && reply.code !== 'ECONNREFUSED';
}

function causeOf(reply: ApiReply<unknown>): string {
  if (reply.kind === 'away') return `${reply.code}: ${reply.message}`;
  return reply.kind === 'refused' ? `${reply.status}: ${reply.message}` : reply.kind;
}
