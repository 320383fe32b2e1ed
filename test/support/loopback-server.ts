import { once } from 'node:events';
import type { Server } from 'node:net';

/** Lets a server listen at a free port of the loopback interface, and returns that port. */
export async function loopbackPort(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}
