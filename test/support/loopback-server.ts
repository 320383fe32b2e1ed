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

/** A recently free loopback port, for a program that needs its port in advance. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await loopbackPort(server);
  server.close();
  await once(server, 'close');
  return port;
}
