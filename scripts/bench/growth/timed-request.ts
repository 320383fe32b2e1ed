import type { ServedIndex } from './serve-index.ts';

/** How an explorer operation was answered, and how long that took until the last byte. */
export interface TimedAnswer {
  readonly status: number;
  readonly ms: number;
}

/** Requests a path below `/explorer`, without compression. */
export async function timedRequest({ url }: ServedIndex, path: string): Promise<TimedAnswer> {
  const startedAt = performance.now();
  const answer = await fetch(`${url}/explorer${path}`, { headers: { 'accept-encoding': 'identity' } });
  await answer.arrayBuffer();
  return { status: answer.status, ms: performance.now() - startedAt };
}
