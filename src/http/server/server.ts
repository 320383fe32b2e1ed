import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '#lib/clock.ts';
import type { ClockAndLog, Logger } from '#lib/logger.ts';
import type { RequestCounters } from '#lib/request-counters.ts';
import { startWorker } from '#lib/worker.ts';
import type { LoggedRequests } from '../app/access-log.ts';
import type { App } from '../app/app.ts';
import { NO_PATH, useOriginForm } from '../app/request-target.ts';
import { type FormatError, messageOnly } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import { ReadyResponse } from '../ready-response.ts';
import { answerUnreadable, refuse } from './client-error.ts';
import type { ConnectionBounds } from './connection-bounds.ts';
import { LOOK_EVERY_MS, slowReaders } from './slow-readers.ts';

export interface ListenOptions {
  app: App;
  host: string;
  /** 0 selects a free port. */
  port: number;
  log: Logger;
  /** Clock for the deadline of slow readers; that of the machine when absent. */
  clock?: Clock;
  /** Limits of open connections and the listener's name in them; none when absent. */
  connections?: { bounds: ConnectionBounds; listener: string } | undefined;
  /** Formats errors for requests that could not be parsed; `{ message }` when absent. */
  formatError?: FormatError;
  /** Timeouts for receiving a head and a whole request; 15 s and 60 s when absent. */
  arrival?: { readonly headMs: number; readonly requestMs: number };
  drain?: DrainTimes | undefined;
}

/** Times of a drain, in milliseconds. */
export interface DrainTimes {
  /** Time for requests in flight; longer ones are aborted. 10 s when absent. */
  readonly withinMs?: number;
  /**
   * Time in which recently used connections stay open, because their next request may be on its way. It is answered
   * with `Connection: close`. None when absent.
   */
  readonly lingerMs?: number;
}

export interface RunningServer {
  /** Origin without a trailing slash, for example `http://127.0.0.1:3000`. */
  url: string;
  port: number;
  /**
   * Stops accepting connections and closes idle ones once no response is waiting to be sent. Lets requests in flight
   * finish for up to `drainMs` (see `DrainTimes`), then aborts them. Resolves when the last connection is closed.
   * Further calls return the same promise.
   */
  close(drainMs?: number): Promise<void>;
}

const DRAIN_MS = 10_000;
/** Interval of checks for connections that became idle during the drain. */
const SWEEP_MS = 20;
const ARRIVAL = { headMs: 15_000, requestMs: 60_000 };
const LONGEST_CHECK_MS = 5_000;
/**
 * Maximum size of a head that Node accepts. It is below the 64 KiB of one network read, so for most longer heads the
 * error's bytes still contain the request line.
 */
const HEAD_BYTES = 48 * 1024;
const KEEP_ALIVE_MS = 65_000; // longer than the 60 s of common load balancers, so that they close first

/** Serves an app on an address. Rejects when the address is not available. */
export async function listen({
  app,
  host,
  port,
  log,
  clock = systemClock,
  connections: bounded,
  formatError = messageOnly,
  arrival = ARRIVAL,
  drain: { withinMs = DRAIN_MS, lingerMs = 0 } = {},
}: ListenOptions): Promise<RunningServer> {
  const connections = new Set<Socket>();
  /**
   * Unfinished responses per connection; several when a client pipelines. Entries are added and removed only with
   * connections. V8 keeps the old tables of a map that changes often, and they would hold responses until the next full
   * garbage collection.
   */
  const inFlight = new Map<Duplex, ServerResponse[]>();
  let closing: Promise<void> | undefined;
  /** Time of the latest connection or request, as `performance.now()`. */
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
    // A cache hit has already been sent.
    if (response.hasLeft) becameIdle(request.socket);
    else track(request.socket, response);
  });
  // The app refuses unknown expectations with its own error body. Node alone sends a 417 without a body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request, socket) => {
    if ((inFlight.get(socket) ?? []).length > 0) socket.destroy();
    else refuse(socket, { status: 400, message: NO_PATH, path: '' }, formatError);
  });
  server.on('clientError', (error, socket) => {
    const [answer, ...later] = inFlight.get(socket) ?? [];
    // After a complete request the fault belongs to the next one. The client would mistake an error response for the
    // response to the first request.
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
  const reading = startWorker(slowReaders({ connections, close: giveUp, clock }), {
    pauseMs: LOOK_EVERY_MS,
    clock,
    log,
  });
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

  /** Closes idle connections once the bytes of every response have been sent. */
  function closeIdle(): void {
    if ([...connections].every(({ writableLength }) => writableLength === 0)) server.closeIdleConnections();
  }

  /** Resets the connection, so that the operating system drops its unsent bytes as well. */
  function giveUp(socket: Socket): void {
    bounded?.bounds.stalled(bounded.listener);
    socket.resetAndDestroy();
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
    // Uses the method of net.Server, because that of http.Server aborts responses that are ended but not yet sent.
    const closed = new Promise<void>(resolve => NetServer.prototype.close.call(server, () => resolve()));
    for (const responses of inFlight.values()) {
      const last = responses.at(-1);
      if (last?.headersSent === false) last.setHeader('Connection', 'close');
    }
    const lingersUntil = usedAt + Math.min(lingerMs, drainMs);
    // Repeated, because responses whose head was sent before the drain could not announce `close`.
    const sweep = setInterval(dropUnused, SWEEP_MS);
    dropUnused();
    const deadline = setTimeout(() => {
      log.warn({ connections: connections.size }, 'requests were aborted at the end of the drain');
      server.closeAllConnections();
    }, drainMs);
    await closed;
    clearInterval(sweep);
    clearTimeout(deadline);
    server.close(); // stops its connection checks
    await reading.stop();

    function dropUnused(): void {
      if (performance.now() < lingersUntil) return;
      closeIdle();
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy(); // preconnected
    }
  }
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

/** Settings of a public listener. */
export interface ListenerSettings extends ClockAndLog {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  readonly loggedRequests: LoggedRequests;
  readonly trustedProxies: readonly string[];
  /** Limits of open connections; none when absent. */
  readonly connections?: ConnectionBounds | undefined;
  /** Counters for rate limits; in memory of this process when absent. */
  readonly counters?: RequestCounters | undefined;
  /** Counters shared only by the workers of this address; in memory of this process when absent. */
  readonly workerCounters?: RequestCounters | undefined;
  readonly drain?: DrainTimes | undefined;
  /** True once the process is about to stop; never when absent. */
  readonly isLeaving?: (() => boolean) | undefined;
  readonly metrics: Metrics;
}

/** Listens on an address for a moment. Rejects with the system's error, such as `EADDRINUSE`, when it is not free. */
export async function probeAddress({ host, port }: { host: string; port: number }): Promise<void> {
  const server = new NetServer().listen({ host, port });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
