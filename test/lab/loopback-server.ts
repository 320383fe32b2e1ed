import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Makes a server listen on a free port of a loopback address; returns the port. */
export async function loopbackPort(server: Server, address = '127.0.0.1'): Promise<number> {
  server.listen(0, address);
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the server has no port');
  return bound.port;
}

/** Ports that the system gives to no other program by itself: on Linux it takes them from 32768 on. */
const OWN_PORTS = { first: 20_000, count: 12_000 };

/** A free loopback port, for a program that needs its port in advance, and for one where nothing listens. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = OWN_PORTS.first + randomInt(OWN_PORTS.count);
    const server = createServer();
    server.listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
