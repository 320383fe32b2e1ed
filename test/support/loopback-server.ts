import { once } from 'node:events';
import type { Server } from 'node:net';

/** Lets a server listen at a free port of an address of the loopback interface, and returns that port. */
export async function loopbackPort(server: Server, address = '127.0.0.1'): Promise<number> {
  server.listen(0, address);
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the server has no port');
  return bound.port;
}
