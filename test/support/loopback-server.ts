import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Lets a server listen at a free port of an address of the loopback interface, and returns that port. */
export async function loopbackPort(server: Server, address = '127.0.0.1'): Promise<number> {
  server.listen(0, address);
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the server has no port');
  return bound.port;
}

/** A port of the loopback interface that was free a moment ago, for a program that must be told its port. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await loopbackPort(server);
  server.close();
  await once(server, 'close');
  return port;
}
