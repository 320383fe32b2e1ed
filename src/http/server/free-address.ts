import { once } from 'node:events';
import { createServer } from 'node:net';

/** Listens on an address for a moment. Rejects with the system's error, such as `EADDRINUSE`, when it is not free. */
export async function probeAddress({ host, port }: { host: string; port: number }): Promise<void> {
  const server = createServer().listen({ host, port });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
