import { leadership } from '../../db/leader.ts';
import type { Db } from '../../db/open.ts';
import { transaction } from '../../db/transaction.ts';
import { type ClockAndLog, logAndGoOn } from '../../lib/logger.ts';
import { startWorker } from '../../lib/worker.ts';
import { answerTo } from './chat-linking.ts';
import type { ChatUpdate, Messenger } from './messenger.ts';
import { messengerLinks } from './store/messenger-links.ts';

interface StartMessengerOptions extends ClockAndLog {
  readonly db: Db;
  readonly messenger: Messenger;
}

/** Time after which another process takes over when this one was killed. */
const LEASE_MS = 60_000;
/** Pause after a poll without updates. */
const PAUSE_MS = 1_000;
/** Time for which the messenger holds a poll open; shorter than the lease. */
const POLL_SECONDS = 25;
/**
 * An update counts as read when its number is at most this far below the next expected one. After a week without
 * updates, the messenger continues from a random number, which may be lower. Source: Bot API, "Update".
 */
const NUMBERS_BACK = 10_000;

/** Receives messages to the bot, in one process at a time, and answers them. Each is acted on once. */
export function startMessenger(options: StartMessengerOptions): { stop(): Promise<void> } {
  const { db, clock, log, messenger } = options;
  /** Number of the first update to ask for; undefined until this process is the leader. */
  let from: number | undefined;
  const lead = leadership(db, {
    name: 'messenger',
    leaseMs: LEASE_MS,
    clock,
    // Updates that arrived while it was not the leader are still unread.
    onElected: () => {
      from = undefined;
    },
  });
  const running = startWorker({ name: 'messenger', runOnce }, { pauseMs: PAUSE_MS, clock, log });
  return {
    async stop() {
      await running.stop();
      await lead.resign();
    },
  };

  async function runOnce(signal: AbortSignal): Promise<number> {
    if (!(await lead.hold())) return 0;
    try {
      from ??= await beginning();
      const { updates, next } = await messenger.updates(from, { pollSeconds: POLL_SECONDS, signal });
      for (const update of updates) {
        if (signal.aborted) return updates.length;
        const answer = await actOnce(update);
        if (answer === undefined) continue;
        await messenger.send(update.chatId, answer).catch(logAndGoOn(log, 'answering in the messenger'));
      }
      from = next;
      return updates.length;
    } catch (error) {
      if (signal.aborted) return 0;
      throw error;
    }
  }

  async function beginning(): Promise<number> {
    await messenger.preferPolling();
    return messengerLinks(db).offset();
  }

  /**
   * The answer to an update. Undefined when none is due, when the update was handled before, or when another process
   * has become the leader.
   */
  function actOnce(update: ChatUpdate): Promise<string | undefined> {
    return transaction(db, async handle => {
      if (!(await lead.confirm(handle))) return undefined;
      const links = messengerLinks(handle);
      const behind = (await links.offset()) - update.id;
      if (behind > 0 && behind <= NUMBERS_BACK) return undefined;
      const answer = await answerTo(handle, update, clock.now());
      await links.setOffset(update.id + 1);
      return answer;
    });
  }
}
