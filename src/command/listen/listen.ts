import { systemLookup } from '#http/fetch/connect.ts';
import { systemClock } from '#lib/clock.ts';
import { Refused } from '#lib/command-line.ts';
import { createLogger } from '#lib/logger.ts';
import { newWebhookSecret } from '#payments/model/webhook.ts';
import { webhookSender } from '#payments/webhooks/sender.ts';
import { apiClient } from '../api/client.ts';
import { type Command, readCommand, USAGE } from './command.ts';
import { eventFeed } from './event-feed.ts';
import { listen } from './run.ts';

/**
 * Forwards the events of a running payments server to a receiver, signed like deliveries of a webhook.
 * @throws UsageError, or Refused when the server refuses
 */
export async function runListen(args: readonly string[]): Promise<void> {
  const command = readCommand(args);
  if (command === undefined) process.stdout.write(USAGE);
  else await forward(command);
}

async function forward({ url, key, forwardTo, since, secret = newWebhookSecret() }: Command): Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => ending.abort());
  const clock = systemClock;
  // The user of this command may send to any address, including local names of the hosts file.
  const sender = webhookSender({
    allowedNetworks: ['0.0.0.0/0', '::/0'],
    allowHttp: true,
    lookup: systemLookup,
    log: createLogger({ level: 'silent' }),
  });
  signal.addEventListener('abort', () => void sender.close(), { once: true });
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  say(`Secret: ${secret}`);
  try {
    const feed = eventFeed({ client: apiClient({ url, key, signal }), since, clock, signal });
    const ended = await listen({ feed, since, sender, clock, forwardTo, secret, say, signal });
    if (ended !== undefined) throw new Refused(ended.refusal);
  } catch (error) {
    if (error !== signal.reason && !(signal.aborted && isAbort(error))) throw error;
  } finally {
    await sender.close();
  }
}

/** Recognizes an aborted timer: Node's timers wrap the reason of the signal. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
