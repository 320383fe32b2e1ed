import { Api, GrammyError } from 'grammy';
import { plainLine } from '../../lib/single-line.ts';
import { NotSent } from './not-sent.ts';

export interface MessengerOptions {
  /** The bot's token, issued by the messenger. */
  readonly token: string;
  /** Address of the Bot API, without a slash at the end. */
  readonly apiRoot: string;
  /** Timeout of a call, in milliseconds; 10 s when absent. */
  readonly timeoutMs?: number;
}

/** An action of a person in a chat with the bot. */
export interface ChatUpdate {
  readonly id: number;
  readonly chatId: string;
  /** True when the chat has no other members. */
  readonly isPrivate: boolean;
  /** User name of the person, without `@`; null without one. */
  readonly username: string | null;
  /** Text of the message; undefined without one. */
  readonly text: string | undefined;
  /** True when the person has just blocked the bot. */
  readonly isBlocked: boolean;
}

/** New actions; `next` is the offset of the next poll. */
interface Updates {
  readonly updates: readonly ChatUpdate[];
  readonly next: number;
}

/**
 * The bot that notifies people of payments (Telegram's Bot API). Every method throws NotSent. No error contains the
 * token.
 */
export interface Messenger {
  /** The bot's user name, which is part of links to it. Requested once. */
  botName(): Promise<string>;
  /** Resolves when the messenger has accepted the text. Markup in it is not interpreted. */
  send(chatId: string, text: string): Promise<void>;
  /** Actions from `next` on. Waits up to `pollSeconds` for the first one. The signal ends the wait. */
  updates(next: number, options: { pollSeconds: number; signal: AbortSignal }): Promise<Updates>;
  /** Switches the bot to polling, by removing any webhook set earlier. */
  preferPolling(): Promise<void>;
}

const TIMEOUT_MS = 10_000;

/** Creates a bot. It makes no call before its first use. */
export function createMessenger({ token, apiRoot, timeoutMs = TIMEOUT_MS }: MessengerOptions): Messenger {
  const api = new Api(token, { apiRoot });
  let name: string | undefined;

  /** Makes a call that is aborted after `ms` or by `signal`. */
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

/**
 * Narrows a signal to the library's type. The library declares the signals of a package, but the platform's signals
 * have all that it uses.
 */
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
 * Translates an error and drops its cause. The library's errors contain the URL of the call, which has the token in it,
 * and the text of the message.
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
  // 401 and 404 concern the token, 409 another process with the same bot. None of them is the fault of the chat.
  return new NotSent(code === 400 ? 'refused' : 'unavailable', message);
}
