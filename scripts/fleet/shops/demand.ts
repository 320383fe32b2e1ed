import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient, ApiRequest } from '#command/api/client.ts';

const WITHIN_MS = 15_000;
const PAUSE_MS = 50;

/**
 * Repeats a request until the service answers, across restarts. All attempts of a change share one idempotency key, so
 * it happens once.
 * @throws Error for a refusal, and when no answer comes within 15 s
 */
export async function demand<Body>(client: ApiClient, request: ApiRequest): Promise<Body> {
  const isChange = request.method === 'POST';
  const headers = isChange ? { 'Idempotency-Key': randomUUID() } : {};
  for (const deadline = Date.now() + WITHIN_MS; ; ) {
    const reply = await client.ask<Body>({ ...request, headers });
    if (reply.kind === 'done') return reply.body;
    const message = reply.kind === 'unchanged' ? 'is unchanged' : reply.message;
    if (reply.kind !== 'away' || Date.now() > deadline) {
      throw new Error(`${request.method ?? 'GET'} ${request.path}: ${message}`);
    }
    await delay(PAUSE_MS);
  }
}
