import type { Server } from 'node:http';
import { type GuardedFetch, guardedFetch } from '../../src/http/fetch/guarded-fetch.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { loopbackPort } from '../lab/loopback-server.ts';

/** A server on the loopback interface, with a fetcher that may reach it. The stack closes both. */
export async function guardedLoopback(
  stack: AsyncDisposableStack,
  server: Server,
): Promise<{ url: string; guarded: GuardedFetch }> {
  const port = await loopbackPort(server);
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const guarded = guardedFetch({
    allowedNetworks: ['127.0.0.0/8'],
    allowHttp: true,
    timeoutMs: 30_000,
    maxBytes: 100,
    log: createLogger({ level: 'silent' }),
  });
  stack.defer(() => guarded.close());
  return { url: `http://127.0.0.1:${port}/`, guarded };
}
