import { Api, GrammyError } from 'grammy';
import { plainLine } from '../../lib/single-line.ts';
import { NotSent } from './not-sent.ts';

export interface MessengerOptions {
  /** The bot's token, as the messenger gave it. */
  readonly token: string;
  /** Address of the Bot API, without a slash at the end. */
  readonly apiRoot: string;
  /** How long a call may take, in milliseconds; 10 s when absent. */
  readonly timeoutMs?: number;
}

/** What somebody did in a chat with the bot. */
export interface ChatUpdate {
  readonly id: number;
  readonly chatId: string;
  /** Whether nobody else is in the chat. */
  readonly isPrivate: boolean;
  /** Of the person, without `@`; null without one. */
  readonly username: string | null;
  /** What was written; undefined where nothing was. */
  readonly text: string | undefined;
  /** Whether the person has just blocked the bot. */
  readonly isBlocked: boolean;
}

/** What was done since; `next` is where to go on. */
interface Updates {
  readonly updates: readonly ChatUpdate[];
  readonly next: number;
}

/** The bot that tells people about payments (Telegram's Bot API). Every method throws NotSent, and none ever its token. */
export interface Messenger {
  /** The bot's user name, which links to it are made of. Asked for once. */
  botName(): Promise<string>;
  /** Resolves when the messenger has taken the text over. It is shown as it is written. */
  send(chatId: string, text: string): Promise<void>;
  /** What was done from `next` on; waits up to `pollSeconds` for something. The signal ends the wait. */
  updates(next: number, options: { pollSeconds: number; signal: AbortSignal }): Promise<Updates>;
  /** Has updates come by asking for them, whatever the bot did before. */
  preferPolling(): Promise<void>;
}

const TIMEOUT_MS = 10_000;

/** A bot. No call is made before it is used. */
export function createMessenger({ token, apiRoot, timeoutMs = TIMEOUT_MS }: MessengerOptions): Messenger {
  const api = new Api(token, { apiRoot });
  let name: string | undefined;

  /** A call that ends after `ms`, or as soon as `signal` says so. */
  async function call<T>(
    work: (signal: LibrarySignal) => Promise<T>,
    { ms = timeoutMs, signal }: { ms?: number; signal?: AbortSignal } = {},
  ): Promise<T> {
    const deadline = AbortSignal.timeout(ms);
    try {
      return await work(librarySignal(signal === undefined ? deadline : AbortSignal.any([signal, deadline])));
    } catch (error) {
      throw translated(error, token);
    }
  }

  return {
    async botName() {
      name ??= (await call(signal => api.getMe(signal))).username;
      return name;
    },

    async send(chatId, text) {
      await call(signal =>
        api.sendMessage(chatId, text, { link_preview_options: { is_disabled: true } }, signal),
      );
    },

    async updates(next, { pollSeconds, signal }) {
      const found = await call(
        until =>
          api.getUpdates(
            { offset: next, timeout: pollSeconds, allowed_updates: ['message', 'my_chat_member'] },
            until,
          ),
        { ms: pollSeconds * 1000 + timeoutMs, signal },
      );
      const last = found.at(-1);
      return { updates: found.flatMap(chatUpdate), next: last === undefined ? next : last.update_id + 1 };
    },

    async preferPolling() {
      await call(signal => api.deleteWebhook({}, signal));
    },
  };
}

type LibrarySignal = NonNullable<Parameters<Api['getMe']>[0]>;

/** The library's types name the signals of a package; of them it uses what the platform's own have too. */
function librarySignal(signal: unknown): LibrarySignal {
  if (!isSignal(signal)) throw new TypeError('not a signal');
  return signal;
}

function isSignal(signal: unknown): signal is LibrarySignal {
  return signal instanceof AbortSignal;
}

type Update = Awaited<ReturnType<Api['getUpdates']>>[number];

function chatUpdate({ update_id: id, message, my_chat_member: member }: Update): ChatUpdate[] {
  const origin = message ?? member;
  if (origin === undefined) return [];
  const { chat, from } = origin;
  return [
    {
      id,
      chatId: String(chat.id),
      isPrivate: chat.type === 'private',
      username: from?.username ?? null,
      text: message?.text,
      isBlocked: member?.new_chat_member.status === 'kicked',
    },
  ];
}

/**
 * What went wrong, without its cause: the library's errors hold the address that was called, which has the token in it,
 * and the text that was sent.
 */
function translated(error: unknown, token: string): NotSent {
  if (!(error instanceof GrammyError)) {
    return new NotSent('unavailable', 'The messenger did not answer.');
  }
  const { error_code: code, description, parameters } = error;
  const message = `The messenger answered ${code}: ${plainLine(description.replaceAll(token, '…'))}`;
  if (code === 403) return new NotSent('blocked', message);
  if (code === 429) {
    return new NotSent('unavailable', message, { retryAfterMs: (parameters.retry_after ?? 1) * 1000 });
  }
  // 401 and 404 mean the token, 409 another process with the same bot: none of it is the fault of the chat.
  return new NotSent(code === 400 ? 'refused' : 'unavailable', message);
}
