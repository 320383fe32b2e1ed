import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { brotliCompressSync, constants, createGzip, gzipSync } from 'node:zlib';
import { loopbackPort } from './loopback-server.ts';

/** A received request. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query, `/api/v2` included. */
  readonly url: string;
  /** Below `/api/v2`, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** 1 for the first. */
  readonly number: number;
}

interface Head {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly latencyMs?: number;
}

/** Ends the connection at this point. `status` is used if headers are sent. */
interface Cut {
  readonly cut: 'before headers' | 'after headers' | 'within the body';
  readonly status?: number;
}

/** The handling of a request. `drip` sends one byte every `everyMs`; `raw` is sent unchanged. */
export type Behaviour =
  | (Head & { readonly json: unknown; readonly encoding?: 'gzip' | 'br' })
  | (Head & { readonly text: string; readonly type?: string })
  | (Head & { readonly bytes: Uint8Array; readonly type?: string })
  | (Head & { readonly drip: string; readonly everyMs: number })
  | (Head & { readonly endless: 'text' | 'gzip' })
  | (Head & { readonly truncated: 'gzip' })
  | Cut
  | { readonly raw: string }
  | 'silence';

export interface ScriptedUpstream extends AsyncDisposable {
  /** The base address: `http://127.0.0.1:<port>/api/v2`. */
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** Bytes written to connections so far, headers included. */
  bytesSent(): number;
  /** Connections accepted so far. */
  connections(): number;
}

/** A service on the loopback interface with answers scripted by the test. */
export async function startScriptedUpstream(
  respond: (request: SeenRequest) => Behaviour | Promise<Behaviour>,
): Promise<ScriptedUpstream> {
  const requests: SeenRequest[] = [];
  const sockets: { readonly bytesWritten: number }[] = [];
  const server = createServer(async (request, response) => {
    const url = request.url ?? '/';
    const { pathname, searchParams } = new URL(url, 'http://upstream.test');
    const seen = {
      method: request.method ?? '',
      url,
      path: pathname.replace(/^\/api\/v2/, ''),
      query: searchParams,
      headers: request.headers,
      number: requests.length + 1,
    };
    requests.push(seen);
    // Some tests disconnect in the middle of an answer.
    await behave(response, await respond(seen)).catch(() => response.destroy());
  });
  server.on('connection', socket => sockets.push(socket));
  const port = await loopbackPort(server);

  return {
    url: `http://127.0.0.1:${port}/api/v2`,
    requests,
    bytesSent: () => sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
    connections: () => sockets.length,
    async [Symbol.asyncDispose]() {
      const closed = new Promise(resolve => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function behave(response: ServerResponse, behaviour: Behaviour): Promise<void> {
  if (behaviour === 'silence') return;
  if ('cut' in behaviour) return cut(response, behaviour);
  if ('raw' in behaviour) {
    response.socket?.end(behaviour.raw);
    return;
  }
  if (behaviour.latencyMs !== undefined) await delay(behaviour.latencyMs);
  const head = (type: string, headers: Readonly<Record<string, string>> = {}) =>
    response.writeHead(behaviour.status ?? 200, { 'content-type': type, ...headers, ...behaviour.headers });

  if ('json' in behaviour) {
    const { json, encoding } = behaviour;
    head('application/json; charset=utf-8', encoding === undefined ? {} : { 'content-encoding': encoding });
    response.end(encoded(JSON.stringify(json), encoding));
  } else if ('text' in behaviour) {
    head(behaviour.type ?? 'text/plain').end(behaviour.text);
  } else if ('bytes' in behaviour) {
    head(behaviour.type ?? 'application/json').end(behaviour.bytes);
  } else if ('drip' in behaviour) {
    head('application/json');
    for (const byte of behaviour.drip) {
      response.write(byte);
      await delay(behaviour.everyMs);
      if (response.destroyed) return;
    }
    response.end();
  } else if ('truncated' in behaviour) {
    head('application/json', { 'content-encoding': 'gzip' });
    response.end(gzipSync(JSON.stringify({ items: [...'abcdefghij'] })).subarray(0, -12));
  } else {
    const zipped = behaviour.endless === 'gzip';
    head('application/json', zipped ? { 'content-encoding': 'gzip' } : {});
    const source = Readable.from(endlessBlanks());
    await (zipped ? pipeline(source, createGzip(), response) : pipeline(source, response));
  }
}

function cut(response: ServerResponse, { cut: where, status = 200 }: Cut): void {
  const socket = response.socket;
  if (where === 'before headers') {
    socket?.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': '1000' });
  if (where === 'after headers') response.flushHeaders();
  else response.write('{"items":[');
  setImmediate(() => socket?.destroy());
}

function encoded(text: string, encoding: 'gzip' | 'br' | undefined): string | Buffer {
  if (encoding === undefined) return text;
  return encoding === 'gzip' ? gzipSync(text) : quickBrotli(text);
}

/** Compresses at the quickest level: the default takes seconds for an answer of the longest size. */
export function quickBrotli(content: string | Buffer): Buffer {
  return brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
}

/** The start of valid JSON: white space before a value that never comes. */
function* endlessBlanks(): Generator<Buffer> {
  const block = Buffer.alloc(65_536, ' ');
  for (;;) yield block;
}
