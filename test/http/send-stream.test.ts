import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { sendStream } from '../../src/http/send-stream.ts';
import { serve } from './serve.ts';

/** A text without an end. */
async function* endless(): AsyncGenerator<string> {
  for (;;) yield 'x'.repeat(64 * 1024);
}

test('a text for a client that has left before its first chunk is closed', async () => {
  const asked = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const server = await serve([
    async ctx => {
      asked.resolve();
      await once(ctx.res, 'close');
      await sendStream(ctx, { chunks: endless(), close: closed.resolve }, {});
      ended.resolve();
    },
  ]);
  const socket = connect(server.port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));

  await asked.promise;
  socket.destroy();
  await closed.promise;
  await ended.promise;

  await server.close(0);
});

test('a text that a client does not read is reset and closed when it is overdue', async () => {
  const overdue = new AbortController();
  const closed = Promise.withResolvers<void>();
  const server = await serve([
    ctx => sendStream(ctx, { chunks: endless(), close: closed.resolve, overdue: overdue.signal }, {}),
  ]);
  const socket = connect(server.port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
  const failed = once(socket, 'error').catch((error: unknown) => [error]);
  await once(socket, 'readable');

  overdue.abort();
  await closed.promise;
  socket.resume();

  expect(await failed).toMatchObject([{ code: 'ECONNRESET' }]);
  await server.close(0);
});
