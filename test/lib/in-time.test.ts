import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { inTime } from '#lib/in-time.ts';
import { loopbackPort } from '../lab/loopback-server.ts';

/** A reply has half of this time after the block, also on a busy machine. */
const TIMEOUT_MS = 2_000;
const LONGER_MS = 2_200;

/** Blocks the event loop, like the serialisation of a large answer. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** A connection to a server in this process, with the given reply. */
async function connectedTo(reply: (socket: Socket) => void): Promise<Socket> {
  const server = createServer(socket => {
    socket.on('data', () => reply(socket)).on('error', () => undefined);
  });
  onTestFinished(() => void server.close());
  const socket = connect(await loopbackPort(server), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

test('a reply that arrived while the event loop was blocked is in time', async () => {
  const socket = await connectedTo(one => {
    one.write('reply');
    block(LONGER_MS);
  });
  const replied = once(socket, 'data');
  socket.write('command');

  const [reply] = await inTime(replied, TIMEOUT_MS);

  expect(String(reply)).toBe('reply');
});

test('a command that a blocked event loop delays still has time for its reply', async () => {
  const socket = await connectedTo(one => one.write('reply'));
  const replied = once(socket, 'data');
  setImmediate(() => socket.write('command')); // as the Redis client writes
  const inItsTime = inTime(replied, TIMEOUT_MS);
  block(LONGER_MS);

  const [reply] = await inItsTime;

  expect(String(reply)).toBe('reply');
});

test('work that does not end fails as late after its timeout', async () => {
  await expect(inTime(new Promise(() => undefined), 5)).rejects.toMatchObject({
    name: 'Late',
    message: 'no answer in 5 ms',
  });
});
