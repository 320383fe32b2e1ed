import { createServer, request, type ServerResponse } from 'node:http';
import type { components } from '#generated/explorer/types.ts';
import { loopbackPort } from '../lab/loopback-server.ts';

type LiveEvent = components['schemas']['LiveEvent'];

/** A stream that a browser has open. */
interface OpenStream {
  readonly query: URLSearchParams;
  readonly response: ServerResponse;
}

/** A front of a data service, with a stream of events that the test sends. */
export interface LiveFront extends AsyncDisposable {
  readonly url: string;
  /** Streams that are open. */
  readonly streams: readonly OpenStream[];
  /** Requests for a stream so far. */
  readonly opened: () => number;
  /** Sends an event to every stream that is open. */
  send(event: LiveEvent): void;
  /** Ends the open streams, and answers later ones with this status; 200 opens streams again. */
  answerWith(status: number): void;
}

/** Starts a front of the data service at `target`. */
export async function startLiveFront(target: string): Promise<LiveFront> {
  const streams: OpenStream[] = [];
  let opened = 0;
  let sent = 0;
  let status = 200;
  const server = createServer((incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', target);
    if (pathname !== '/explorer/live') {
      const { method, url, headers } = incoming;
      const passed = request(new URL(url ?? '/', target), { method, headers }, answer => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      passed.on('error', () => response.destroy());
      incoming.pipe(passed);
      return;
    }
    opened += 1;
    if (status !== 200) {
      response.writeHead(status, { 'Retry-After': '1' }).end();
      return;
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.write('retry: 1000\n\n');
    const stream = { query: searchParams, response };
    streams.push(stream);
    response.on('close', () => streams.splice(streams.indexOf(stream), 1));
  });
  const port = await loopbackPort(server);
  return {
    url: `http://127.0.0.1:${port}`,
    streams,
    opened: () => opened,
    send(event) {
      sent += 1;
      for (const { response } of streams)
        response.write(`id: c${sent}\nevent: ${event.event}\ndata: ${JSON.stringify(event)}\n\n`);
    },
    answerWith(next) {
      status = next;
      for (const { response } of [...streams]) response.end();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
