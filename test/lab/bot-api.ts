import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { record } from './json.ts';
import { loopbackPort } from './loopback-server.ts';

/** A received call of the bot. */
interface BotCall {
  readonly method: string;
  readonly body: Record<string, unknown>;
}

/** An answer that replaces the regular one of the Bot API. */
export interface BotAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface BotApi extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly calls: BotCall[];
  /** The accepted messages in order, as `chat: text`. */
  sent(): string[];
  /** Answers the next calls of a method with these answers, in order. */
  next(method: string, ...answers: BotAnswer[]): void;
  /** Adds an update, which every poll returns until it is confirmed. Returns its number. */
  push(update: Record<string, unknown>): number;
  /** Adds the update of a private message to the bot. */
  write(chat: number, text: string, username?: string): number;
  /** Sets the number of the next update. */
  jumpTo(updateId: number): void;
}

/** An error answer of the Bot API. */
export function botError(status: number, description: string, parameters: object = {}): BotAnswer {
  return { status, body: { ok: false, error_code: status, description, parameters } };
}

/** A server on loopback with the part of Telegram's Bot API that the bot uses, including long polling. */
export async function startBotApi(): Promise<BotApi> {
  const token = '123456789:AAfake-token_for-tests';
  const calls: BotCall[] = [];
  const taken: string[] = [];
  const scripted = new Map<string, BotAnswer[]>();
  let updates: Record<string, unknown>[] = [];
  let nextId = 700;
  let wake = Promise.withResolvers<void>();

  const server = createServer((request, response) => {
    answer(request).then(
      ({ status, body }) => reply(response, status, body),
      () => response.destroy(),
    );
  });

  async function answer(request: IncomingMessage): Promise<BotAnswer> {
    const [, credentials, method = ''] = (request.url ?? '').split('/');
    const body = await bodyOf(request);
    if (credentials !== `bot${token}`) return botError(401, 'Unauthorized');
    calls.push({ method, body });
    const special = scripted.get(method)?.shift();
    if (special !== undefined) return special;
    if (method === 'getMe') {
      return ok({ id: 1, is_bot: true, first_name: 'Tollgate', username: 'tollgate_test_bot' });
    }
    if (method === 'getUpdates') return ok(await polled(Number(body.offset), Number(body.timeout)));
    if (method === 'sendMessage') taken.push(`${String(body.chat_id)}: ${String(body.text)}`);
    return ok(method === 'sendMessage' ? { message_id: taken.length, date: 0, chat: { id: 1 } } : true);
  }

  async function polled(offset: number, seconds: number): Promise<Record<string, unknown>[]> {
    // An offset beyond the newest number is ignored, as after a restart of the numbering.
    if (offset <= nextId) updates = updates.filter(({ update_id }) => Number(update_id) >= offset);
    if (updates.length === 0) {
      const timer = setTimeout(() => wake.resolve(), seconds * 1000);
      await wake.promise;
      clearTimeout(timer);
      wake = Promise.withResolvers<void>();
    }
    return updates;
  }

  function push(update: Record<string, unknown>): number {
    const update_id = nextId;
    nextId += 1;
    updates.push({ update_id, ...update });
    wake.resolve();
    return update_id;
  }

  const port = await loopbackPort(server);
  return {
    url: `http://127.0.0.1:${port}`,
    token,
    calls,
    sent: () => taken,
    next: (method, ...answers) => void scripted.set(method, [...(scripted.get(method) ?? []), ...answers]),
    push,
    write: (chat, text, username) =>
      push({ message: message({ id: chat, type: 'private' }, text, username) }),
    jumpTo(updateId) {
      nextId = updateId;
    },
    async [Symbol.asyncDispose]() {
      wake.resolve();
      server.closeAllConnections();
      await new Promise<void>(resolve => server.close(() => resolve()));
    },
  };
}

/** A chat message as contained in updates. */
export function message(chat: { id: number; type: string }, text: string, username?: string): object {
  const from = { id: 42, is_bot: false, first_name: 'Ada', ...(username !== undefined && { username }) };
  return { message_id: 1, date: 0, chat, from, text };
}

function ok(result: unknown): BotAnswer {
  return { status: 200, body: { ok: true, result } };
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const text = Buffer.concat(chunks).toString();
  return text === '' ? {} : record(JSON.parse(text));
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
