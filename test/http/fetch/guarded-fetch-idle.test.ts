import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { guardedFetch } from '#http/fetch/guarded-fetch.ts';
import { createLogger } from '#lib/logger.ts';
import { until } from '../../support/until.ts';

test('a connection that is not used is closed within seconds, however long a stranger asks to keep it', async () => {
  await using stack = new AsyncDisposableStack();
  let open = 0;
  const server = createServer((_, response) =>
    response.writeHead(204, { 'Keep-Alive': 'timeout=600' }).end(),
  );
  server.keepAliveTimeout = 600_000;
  server.on('connection', socket => {
    open += 1;
    socket.once('close', () => {
      open -= 1;
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  const guarded = guardedFetch({
    allowedNetworks: ['127.0.0.0/8'],
    allowHttp: true,
    timeoutMs: 2_000,
    maxBytes: 100,
    log: createLogger({ level: 'silent' }),
  });
  stack.defer(() => guarded.close());

  await guarded.statusOf({ url: `http://127.0.0.1:${bound.port}/`, method: 'POST', body: '{}' });

  expect(open).toBe(1);
  expect(
    await until(
      () => Promise.resolve(open),
      count => count === 0,
    ),
  ).toBe(0);
}, 20_000);
