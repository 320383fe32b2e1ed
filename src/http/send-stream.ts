import { once } from 'node:events';
import type { Context } from 'koa';

/** Text that is written while it is made, and what to do when the response has ended; it may be done twice. */
interface StreamedText {
  readonly chunks: AsyncIterable<string>;
  readonly close: () => void;
  readonly overdue?: AbortSignal;
}

/**
 * Responds with a text, a chunk at a time as the client reads. A failure, or the end of its time, resets the connection:
 * without a length, a proxy of HTTP/1.0 would take a closed one for the end of the text.
 */
export async function sendStream(
  ctx: Context,
  { chunks, close, overdue }: StreamedText,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const { res } = ctx;
  ctx.status = 200;
  // The client has left before there was anything to send, so no `close` will be emitted.
  if (res.closed || res.destroyed) return close();
  const gone = new AbortController();
  // Without waiting for the next chunk, which may take long.
  res.once('close', () => {
    gone.abort();
    close();
  });
  const reset = () => void res.socket?.resetAndDestroy();
  overdue?.addEventListener('abort', reset);
  try {
    for (const name in headers) res.setHeader(name, headers[name] ?? '');
    ctx.vary('Accept-Encoding');
    if (ctx.method === 'HEAD') return;
    ctx.respond = false;
    for await (const chunk of chunks) {
      if (gone.signal.aborted) return;
      if (chunk !== '' && !res.write(chunk)) await once(res, 'drain', { signal: gone.signal });
    }
    res.end();
  } catch (error) {
    if (gone.signal.aborted) return;
    if (res.headersSent) reset();
    throw error;
  } finally {
    overdue?.removeEventListener('abort', reset);
    close();
  }
}
