import { createServer } from 'node:http';
import { expect, test, vi } from 'vitest';
import { guardedFetch } from '#http/fetch/guarded-fetch.ts';
import { createLogger } from '#lib/logger.ts';

const loading = vi.hoisted(() => ({ failures: 0 }));

vi.mock('undici', async original => {
  const undici = await original<typeof import('undici')>();
  class Agent extends undici.Agent {
    constructor(options: ConstructorParameters<typeof undici.Agent>[0]) {
      if (loading.failures-- > 0) throw new Error('EMFILE: too many open files');
      super(options);
    }
  }
  return { ...undici, Agent };
});

test('a connection pool that could not be opened is opened with the next request', async () => {
  await using stack = new AsyncDisposableStack();
  const server = createServer((_, response) => response.writeHead(204).end());
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  const request = { url: `http://127.0.0.1:${bound.port}/` };
  const guarded = guardedFetch({
    allowedNetworks: ['127.0.0.0/8'],
    allowHttp: true,
    timeoutMs: 2_000,
    maxBytes: 100,
    log: createLogger({ level: 'silent' }),
  });
  stack.defer(() => guarded.close());
  loading.failures = 1;

  const failed = await guarded.fetch(request).catch((error: unknown) => error);
  const answered = await guarded.fetch(request);

  expect(failed).toBeInstanceOf(Error);
  expect(answered.status).toBe(204);
});
