import { connect } from 'node:net';
import { Writable } from 'node:stream';
import type { Middleware } from 'koa';
import { type AppOptions, createApp } from '../../src/http/app/app.ts';
import { createMetrics, type Metrics } from '../../src/http/metrics.ts';
import { type ListenOptions, listen, type RunningServer } from '../../src/http/server/server.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { PATIENCE_MS, until } from '../lab/until.ts';

export interface Served extends AsyncDisposable, RunningServer {
  metrics: Metrics;
  /** Log entries so far, parsed. */
  entries: Record<string, unknown>[];
  /** The first log entry that satisfies `wanted`, as soon as it is written. */
  entry(wanted: (entry: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
  /** Sends raw bytes and returns everything up to the end of the connection. */
  raw(text: string): Promise<string>;
}

/** A real server on loopback with the standard middleware around `routes`. */
export async function serve(
  routes: readonly Middleware[],
  options: Partial<Omit<AppOptions, 'routes'>> &
    Pick<ListenOptions, 'connections' | 'arrival' | 'drain'> = {},
): Promise<Served> {
  const entries: Record<string, unknown>[] = [];
  const destination = new Writable({
    write(chunk, _, done) {
      const entry: unknown = JSON.parse(String(chunk));
      entries.push({ ...(typeof entry === 'object' ? entry : {}) });
      done();
    },
  });
  const log = createLogger({ level: 'info', destination });
  const { metrics = createMetrics() } = options;
  const { connections, arrival, drain, ...appOptions } = options;
  const app = createApp({ log, metrics, clock: systemClock, ...appOptions, routes });
  const { formatError } = options;
  const server = await listen({
    app,
    host: '127.0.0.1',
    port: 0,
    log,
    ...(appOptions.clock && { clock: appOptions.clock }),
    connections,
    drain,
    ...(arrival && { arrival }),
    ...(formatError && { formatError }),
  });
  return {
    ...server,
    metrics,
    entries,
    entry: wanted => eventually(() => entries.find(wanted)),
    raw: text => exchange(server.port, text),
    [Symbol.asyncDispose]: () => server.close(0),
  };
}

/** The first defined result of `read`, which is repeated until then. */
export async function eventually<T>(read: () => T | undefined): Promise<T> {
  const value = await until(
    async () => read(),
    one => one !== undefined,
  );
  if (value === undefined) throw new Error('it did not happen in time');
  return value;
}

/** Sends `text` to a port and collects the answer until the other side ends. Rejects on a reset or when patience ends. */
function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text, 'latin1'));
    let answer = '';
    socket.setEncoding('latin1');
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error(`no end in time, after: ${answer}`)));
    socket.on('data', (chunk: string) => {
      answer += chunk;
    });
    socket.on('end', () => resolve(answer));
    socket.on('error', reject);
  });
}
