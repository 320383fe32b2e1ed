import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';

/** A received delivery. */
export interface Arrival {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** SHA-256 of the body, in hex. */
  readonly hash: string;
  /** Value of `X-Service-Event-Id`. */
  readonly eventId: string;
  /** Number of the attempt by `X-Service-Delivery-Id`; 1 for the first. */
  readonly attempt: number;
  /** 1 for the first delivery at this receiver. */
  readonly number: number;
}

/** A status, or a function that answers. A function that does nothing keeps the sender waiting. */
export type Answer = number | ((response: ServerResponse) => void);

export interface WebhookReceiver extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly arrivals: readonly Arrival[];
  /** Connections accepted so far. */
  connections(): number;
}

/** A receiver of webhooks on the loopback interface, optionally at a given host and port. */
export async function startReceiver(
  answer: (arrival: Arrival) => Answer | Promise<Answer> = () => 204,
  { host = '127.0.0.1', port = 0 } = {},
): Promise<WebhookReceiver> {
  const arrivals: Arrival[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', chunk => chunks.push(chunk));
    request.once('end', async () => {
      const { url: path = '/', headers } = request;
      const body = Buffer.concat(chunks);
      const hash = createHash('sha256').update(body).digest('hex');
      const eventId = String(headers['x-service-event-id']);
      const [, count = '1'] = String(headers['x-service-delivery-id']).split('-');
      const arrival = {
        path,
        headers,
        body,
        hash,
        eventId,
        attempt: Number(count),
        number: arrivals.length + 1,
      };
      arrivals.push(arrival);
      const given = await answer(arrival);
      if (typeof given === 'number') response.writeHead(given).end();
      else given(response);
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>(resolve => server.listen(port, host, resolve));
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}`,
    port: bound.port,
    arrivals,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      const closed = new Promise(resolve => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
