import type { Middleware } from 'koa';
import { createApp } from '../../src/http/app/app.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { listen } from '../../src/http/server/server.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';

/** Serves routes behind the standard middleware on a free port of the loopback interface. */
export async function serveRoutes(
  ...routes: readonly Middleware[]
): Promise<{ url: string; close(): Promise<void> } & AsyncDisposable> {
  const log = createLogger({ level: 'silent' });
  const app = createApp({ log, metrics: createMetrics(), clock: systemClock, routes });
  const { url, close } = await listen({ app, host: '127.0.0.1', port: 0, log });
  return { url, close, [Symbol.asyncDispose]: () => close() };
}
