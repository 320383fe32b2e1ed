import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { explorerContract } from '#contract/contracts/explorer.ts';
import { describeErrors } from '#contract/contracts/violations.ts';
import { responseValidators } from '#contract/mount/response-validators.ts';
import { until } from '../lab/until.ts';

/** An event of a stream, with its cursor. */
interface ReceivedEvent {
  readonly id: string;
  readonly data: ExplorerSchemas['LiveEvent'];
}

/** An open stream that checks each event against the contract. */
export interface LiveStream extends AsyncDisposable {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Body of a refusal. */
  body(): Promise<string>;
  /** Events so far. */
  readonly events: readonly ReceivedEvent[];
  /** Number of comments so far. */
  comments(): number;
  /** Latest `retry` in milliseconds. */
  retryMs(): number | undefined;
  /** Waits for an event whose data has these members, after the first `from` events. Resolves with it and its number. */
  next(members: Readonly<Record<string, unknown>>, from?: number): Promise<ReceivedEvent & { at: number }>;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  pause(): void;
  resume(): void;
  close(): void;
}

const validate = responseValidators(explorerContract.document)('streamLive', 200);

/** Opens `GET /explorer/live` with a query. @throws Error when the server cannot be reached */
export async function openLive(
  url: string,
  query = '',
  headers: Readonly<Record<string, string>> = {},
): Promise<LiveStream> {
  const outgoing = request(`${url}/explorer/live${query}`, { headers, agent: false }).end();
  const [response]: IncomingMessage[] = await once(outgoing, 'response');
  if (response === undefined) throw new Error('no response');
  const events: ReceivedEvent[] = [];
  let comments = 0;
  let retryMs: number | undefined;
  let text = '';
  let fault: Error | undefined;
  const ended = new Promise<void>(resolve => {
    response.once('close', resolve);
  });
  response.on('error', () => undefined);
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    text += chunk;
    if (response.statusCode !== 200) return;
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) read(part);
  });

  function read(part: string): void {
    if (part.startsWith(':')) comments += 1;
    const fields = new Map(
      part.split('\n').flatMap(line => {
        const at = line.indexOf(':');
        return at > 0 ? [[line.slice(0, at), line.slice(at + 1).trim()] as const] : [];
      }),
    );
    const retry = fields.get('retry');
    if (retry !== undefined) retryMs = Number(retry);
    const data = fields.get('data');
    if (data === undefined) return;
    const parsed = JSON.parse(data);
    if (validate?.(parsed) !== true) fault ??= new Error(`${data}: ${describeErrors(validate?.errors)}`);
    if (parsed.event !== fields.get('event')) fault ??= new Error(`${data} is called ${fields.get('event')}`);
    events.push({ id: fields.get('id') ?? '', data: parsed });
  }

  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    ended,
    comments: () => comments,
    retryMs: () => retryMs,
    async body() {
      await ended;
      return text;
    },
    async next(members, from = 0) {
      const isRight = ({ data }: ReceivedEvent) =>
        Object.entries(members).every(([name, value]) => Reflect.get(data, name) === value);
      const at = await until(
        async () => events.findIndex((event, index) => index >= from && isRight(event)),
        index => index !== -1 || fault !== undefined,
      ).catch(error => {
        throw new Error(`${JSON.stringify(members)} did not come, but ${JSON.stringify(events)}`, {
          cause: error,
        });
      });
      const found = events[at];
      if (fault !== undefined || found === undefined) throw fault ?? new Error('no event');
      return { ...found, at };
    },
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    close: () => void response.destroy(),
    async [Symbol.asyncDispose]() {
      response.destroy();
    },
  };
}
