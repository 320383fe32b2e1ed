import { createServer } from 'node:http';
import { expect, test, vi } from 'vitest';
import { guardedLoopback } from '../../support/guarded-loopback.ts';

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
  const { url, guarded } = await guardedLoopback(stack, server);
  loading.failures = 1;

  const failed = await guarded.fetch({ url }).catch((error: unknown) => error);
  const answered = await guarded.fetch({ url });

  expect(failed).toBeInstanceOf(Error);
  expect(answered.status).toBe(204);
});
