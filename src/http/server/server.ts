import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from '../../lib/logger.ts';
import { useOriginForm } from '../absolute-form.ts';
import type { App } from '../app/app.ts';
import { NO_PATH } from '../app/request-target.ts';
import { type FormatError, messageOnly } from '../errors.ts';
import { ReadyResponse } from '../ready-response.ts';
import { answerUnreadable, refuse } from './client-error.ts';
import type { ConnectionBounds } from './connection-bounds.ts';

export interface ListenOptions {
  app: App;
  host: string;
  /** 0 takes a free one. */
  port: number;
  log: Logger;
  /** Bounds of open connections and the listener's name in them; none when absent. */
  connections?: { bounds: ConnectionBounds; listener: string } | undefined;
  /** Words the answers to requests that could not even be parsed; `{ message }` when absent. */
  formatError?: FormatError;
  /** Times within which a head and a whole request have to arrive; 15 s and 60 s when absent. */
  arrival?: { readonly headMs: number; readonly requestMs: number };
  drain?: DrainTimes | undefined;
}

/** Times of a drain, in milliseconds. */
export interface DrainTimes {
  /** Time that requests in flight have; what takes longer is cut off. 10 s when absent. */
  readonly withinMs?: number;
  /**
   * Time in which connections that were just used stay open, because their next request may be on its way: it is answered
   * with `Connection: close`. None when absent.
   */
  readonly lingerMs?: number;
}

export interface RunningServer {
  /** Origin without a slash at the end, for example `http://127.0.0.1:3000`. */
  url: string;
  port: number;
  /**
   * Stops accepting, drops idle connections as soon as no answer waits to leave, lets requests in flight finish for up to
   * `drainMs` (see `DrainTimes`), then cuts them off. Resolves when the last connection is gone; calling it again gives
   * the same promise.
   */
  close(drainMs?: number): Promise<void>;
}

const DRAIN_MS = 10_000;
/** Time between two looks for connections that became idle during the drain. */
const SWEEP_MS = 20;
const ARRIVAL = { headMs: 15_000, requestMs: 60_000 };
const LONGEST_CHECK_MS = 5_000;
/**
 * Node's own limit of a head, for each connection. It is below the 64 KiB of one read from the network: most heads
 * beyond it show their request line in the bytes of the error.
 */
const HEAD_BYTES = 48 * 1024;
const KEEP_ALIVE_MS = 65_000; // longer than the 60 s of common load balancers, so that they hang up first

/** Serves an app on an address. Rejects when the address cannot be had. */
export async function listen({
  app,
  host,
  port,
  log,
  connections: bounded,
  formatError = messageOnly,
  arrival = ARRIVAL,
  drain: { withinMs = DRAIN_MS, lingerMs = 0 } = {},
}: ListenOptions): Promise<RunningServer> {
  const connections = new Set<Socket>();
  /**
   * The unfinished answers of each connection; more than one when a client sends ahead. The map changes with connections only:
   * V8 chains the tables that a busy map replaces, and each would hold answers until the next full collection.
   */
  const inFlight = new Map<Duplex, ServerResponse[]>();
  let closing: Promise<void> | undefined;
  /** Time of the newest connection or request, in milliseconds of the process. */
  let usedAt = Number.NEGATIVE_INFINITY;

  const server = createServer<typeof IncomingMessage, typeof ReadyResponse>({
    ServerResponse: ReadyResponse,
    headersTimeout: arrival.headMs,
    requestTimeout: arrival.requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(LONGEST_CHECK_MS, arrival.headMs),
    maxHeaderSize: HEAD_BYTES,
    requireHostHeader: false, // checked by the app, which answers in JSON
  });
  server.on('connection', socket => {
    if (bounded?.bounds.admit(socket, bounded.listener) === false) return;
    usedAt = performance.now();
    connections.add(socket);
    inFlight.set(socket, []);
    socket.once('close', () => {
      connections.delete(socket);
      inFlight.delete(socket);
    });
  });
  const answer = app.callback();
  server.on('request', (request, response) => {
    useOriginForm(request);
    usedAt = performance.now();
    bounded?.bounds.busy(request.socket);
    if (closing !== undefined) response.shouldKeepAlive = false;
    answer(request, response);
    // A hit has left by now.
    if (response.hasLeft) becameIdle(request.socket);
    else track(request.socket, response);
  });
  // The app refuses it in the form of its family. Node alone sends a 417 without a body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request, socket) => {
    if ((inFlight.get(socket) ?? []).length > 0) socket.destroy();
    else refuse(socket, { status: 400, message: NO_PATH, path: '' }, formatError);
  });
  server.on('clientError', (error, socket) => {
    const [answer, ...later] = inFlight.get(socket) ?? [];
    // Behind a whole request the fault is of the next one, and an answer to it would be taken for the first one's.
    const isFirst =
      answer === undefined || (later.length === 0 && !answer.req.complete && !answer.headersSent);
    if (isFirst) answerUnreadable(error, socket, { answer, formatError });
    else socket.destroy(error);
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  server.on('error', error => log.error({ err: error }, 'server failed'));
  const bound = portOf(server.address());
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
  log.info({ url }, 'listening');

  return {
    url,
    port: bound,
    close: (drainMs = withinMs) => {
      closing ??= drain(drainMs);
      return closing;
    },
  };

  /** Drops idle connections once the bytes of every answer have left. */
  function closeIdle(): void {
    if ([...connections].every(({ writableLength }) => writableLength === 0)) server.closeIdleConnections();
  }

  function track(socket: Socket, response: ServerResponse): void {
    const unfinished = inFlight.get(socket) ?? [];
    unfinished.push(response);
    response.once('close', () => {
      unfinished.splice(unfinished.indexOf(response), 1);
      becameIdle(socket);
    });
  }

  function becameIdle(socket: Socket): void {
    if (inFlight.get(socket)?.length === 0) bounded?.bounds.idle(socket);
  }

  async function drain(drainMs: number): Promise<void> {
    // By the method of net.Server: that of http.Server cuts off answers that are ended but have not left yet.
    const closed = new Promise<void>(resolve => NetServer.prototype.close.call(server, () => resolve()));
    for (const responses of inFlight.values()) {
      const last = responses.at(-1);
      if (last?.headersSent === false) last.setHeader('Connection', 'close');
    }
    const lingersUntil = usedAt + Math.min(lingerMs, drainMs);
    // Again and again: a response whose head was out before the drain began could not say `close` any more.
    const sweep = setInterval(dropUnused, SWEEP_MS);
    dropUnused();
    const deadline = setTimeout(() => {
      log.warn({ connections: connections.size }, 'requests were cut off at the end of the drain');
      server.closeAllConnections();
    }, drainMs);
    await closed;
    clearInterval(sweep);
    clearTimeout(deadline);
    server.close(); // ends its own look at connections

    function dropUnused(): void {
      if (performance.now() < lingersUntil) return;
      closeIdle();
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy(); // opened ahead of need
    }
  }
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return address.port;
}
