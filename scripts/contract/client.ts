import type { Readable } from 'node:stream';
import { Client } from 'undici';

/** Longest single wait in seconds: limits are per minute. */
const LONGEST_WAIT_S = 61;
/** Maximum waits of a run: enough for it under the lowest possible limit. */
const MAX_WAITS = 20;

/** Request with its response, as sent over the wire. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  /** Request body; undefined without one. */
  readonly sent?: string | undefined;
  readonly startedAt: number;
  readonly durationMs: number;
  /** 0 when there was no response; `text` then holds the reason. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface RecordingClient {
  /** Sends `target` unchanged, including escapes. */
  send(
    method: string,
    target: string,
    headers?: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<Exchange>;
  readonly exchanges: readonly Exchange[];
  close(): Promise<void>;
}

/** Creates an HTTP client that records all its traffic. A key is sent but never recorded. */
export function recordingClient({
  baseUrl,
  key,
}: {
  baseUrl: string;
  key?: string | undefined;
}): RecordingClient {
  const exchanges: Exchange[] = [];
  const origin = new URL(baseUrl);
  // undici's Client sends targets unchanged; fetch would normalize them.
  const client = new Client(origin.origin, { headersTimeout: 20_000, bodyTimeout: 20_000 });
  const prefix = origin.pathname.replace(/\/$/, '');
  return {
    exchanges,
    close: () => client.close(),
    async send(method, target, headers = {}, sent = undefined) {
      const startedAt = Date.now();
      const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
      const answer = await client
        .request({
          path: prefix + target,
          method: asMethod(method),
          headers: { ...authorization, ...headers },
          ...(sent === undefined ? {} : { body: sent }),
        })
        .then(async ({ statusCode: status, headers: received, body }) => ({
          status,
          headers: received,
          text: (await bytesOf(received, body)).toString(),
        }))
        .catch((error: unknown) => ({ status: 0, headers: {}, text: String(error) }));
      const url = origin.origin + prefix + target;
      const exchange = { method, url, sent, startedAt, durationMs: Date.now() - startedAt, ...answer };
      exchanges.push(exchange);
      return exchange;
    },
  };
}

/** Bytes of a body; of a stream of events, which does not end, those up to the end of an event. */
export async function bytesOf(headers: Exchange['headers'], body: Readable): Promise<Buffer> {
  const isStream = String(headers['content-type']).startsWith('text/event-stream');
  const chunks: Buffer[] = [];
  for await (const chunk of body) {
    chunks.push(chunk);
    if (isStream && /^data:.*\n\n$/ms.test(Buffer.concat(chunks).toString())) break;
  }
  return Buffer.concat(chunks);
}

/** Creates a sender that, after a 429, waits as requested and retries. It returns the 429s too. */
export function pacedSender(client: RecordingClient, { sleep }: { sleep: (ms: number) => Promise<void> }) {
  let waits = 0;
  return async (...request: Parameters<RecordingClient['send']>): Promise<Exchange[]> => {
    const refusals: Exchange[] = [];
    for (;;) {
      const exchange = await client.send(...request);
      const seconds = exchange.status === 429 ? Number(exchange.headers['retry-after']) : Number.NaN;
      const mayWait = seconds >= 0 && seconds <= LONGEST_WAIT_S && waits < MAX_WAITS;
      if (!mayWait) return [...refusals, exchange];
      refusals.push(exchange);
      waits += 1;
      await sleep(seconds * 1000);
    }
  };
}

/** Narrows a method to undici's type; GET for any other text. */
export function asMethod(method: string) {
  switch (method) {
    case 'HEAD':
    case 'POST':
    case 'PUT':
    case 'DELETE':
    case 'PATCH':
    case 'OPTIONS':
      return method;
    default:
      return 'GET';
  }
}
