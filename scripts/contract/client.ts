import { Client } from 'undici';

/** The longest single wait, in seconds: a limit is by the minute. */
const LONGEST_WAIT_S = 61;
/** How often a run waits: enough for it with the lowest limit there is. */
const MOST_WAITS = 20;

/** One request with its answer, as it went over the wire. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  /** The body that was sent; undefined without one. */
  readonly sent?: string | undefined;
  readonly startedAt: number;
  readonly durationMs: number;
  /** 0 when there was no answer; `text` then says why. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface RecordingClient {
  /** `target` is sent as it stands, escapes and all. */
  send(
    method: string,
    target: string,
    headers?: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<Exchange>;
  readonly exchanges: readonly Exchange[];
  close(): Promise<void>;
}

/** An HTTP client that keeps all its traffic. A key is sent along and never recorded. */
export function recordingClient({
  baseUrl,
  key,
}: {
  baseUrl: string;
  key?: string | undefined;
}): RecordingClient {
  const exchanges: Exchange[] = [];
  const origin = new URL(baseUrl);
  // A client of its own, for it sends targets as they are where fetch would mend them.
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
          text: await body.text(),
        }))
        .catch((error: unknown) => ({ status: 0, headers: {}, text: String(error) }));
      const url = origin.origin + prefix + target;
      const exchange = { method, url, sent, startedAt, durationMs: Date.now() - startedAt, ...answer };
      exchanges.push(exchange);
      return exchange;
    },
  };
}

/** Sends, and after a 429 waits as long as it says and sends again; the 429s are handed out too. */
export function pacedSender(client: RecordingClient, { sleep }: { sleep: (ms: number) => Promise<void> }) {
  let waits = 0;
  return async (...request: Parameters<RecordingClient['send']>): Promise<Exchange[]> => {
    const refusals: Exchange[] = [];
    for (;;) {
      const exchange = await client.send(...request);
      const seconds = exchange.status === 429 ? Number(exchange.headers['retry-after']) : Number.NaN;
      const mayWait = seconds >= 0 && seconds <= LONGEST_WAIT_S && waits < MOST_WAITS;
      if (!mayWait) return [...refusals, exchange];
      refusals.push(exchange);
      waits += 1;
      await sleep(seconds * 1000);
    }
  };
}

/** The method as undici's types have it; GET for any other text. */
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
