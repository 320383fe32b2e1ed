import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A network to a PostgreSQL server that a test can cut. */
export interface CutNetwork {
  /** URL of the database through this network. */
  readonly url: string;
  /** Drops everything from the current connections. Later ones work. */
  cut(): void;
  /** Drops everything, also from later connections. Resolves when the first bytes were dropped. */
  swallow(): Promise<void>;
  /** Ends the connection of the next statement with this text when the server has run it. */
  loseAnswerTo(text: string): void;
  stop(): Promise<void>;
}

/** A proxy to a PostgreSQL server that delivers nothing once it is `cut`, like a network that drops packets. */
export async function startNetwork(target: string): Promise<CutNetwork> {
  const socketPath = `${new URL(target).searchParams.get('host')}/.s.PGSQL.5432`;
  const pairs = new Set<readonly [Socket, Socket]>();
  const swallowed = new Set<Socket>();
  let unanswered: string | undefined;
  let isSwallowing = false;
  const server = createServer(client => {
    if (isSwallowing) {
      client.on('error', () => undefined);
      swallowed.add(client);
      return;
    }
    const backend = connect(socketPath);
    const pair = [client, backend] as const;
    pairs.add(pair);
    client.on('data', chunk => {
      if (unanswered === undefined || !chunk.includes(unanswered)) return;
      unanswered = undefined;
      backend.unpipe(client);
      backend.once('data', () => client.destroy());
    });
    for (const [one, other] of [pair, [backend, client] as const]) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  function cut(): void {
    for (const [client, backend] of pairs) {
      client.unpipe(backend);
      backend.unpipe(client);
      client.resume();
      backend.resume();
    }
  }

  return {
    url: `postgres://postgres@127.0.0.1:${port}${new URL(target).pathname}`,
    cut,
    swallow() {
      isSwallowing = true;
      cut();
      const { promise, resolve } = Promise.withResolvers<void>();
      for (const [client] of pairs) client.once('data', () => resolve());
      return promise;
    },
    loseAnswerTo(text: string) {
      unanswered = text;
    },
    async stop() {
      for (const socket of [...swallowed, ...[...pairs].flat()]) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
