import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { until } from '../../lab/until.ts';
import { guardedLoopback } from '../../support/guarded-loopback.ts';

test('an unused connection is closed within seconds, even if the host asks to keep it longer', async () => {
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
  const { url, guarded } = await guardedLoopback(stack, server);

  await guarded.statusOf({ url, method: 'POST', body: '{}' });

  expect(open).toBe(1);
  expect(
    await until(
      () => Promise.resolve(open),
      count => count === 0,
    ),
  ).toBe(0);
});
