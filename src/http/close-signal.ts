import type { Context } from 'koa';

/** Signal that aborts when the client disconnects, or after the response has been sent. */
export function closeSignal({ res }: Pick<Context, 'res'>): AbortSignal {
  const closed = new AbortController();
  if (res.closed) closed.abort();
  else res.once('close', () => closed.abort());
  return closed.signal;
}
