/**
 * Forwards the events of a running payments server to a receiver, signed like deliveries of a webhook:
 *   npm run -s listen -- --key KEY --forward-to http://localhost:8080/hook
 * Exits with 2 when the command is not understood, and with 1 when the server refuses.
 */

import { apiClient } from '../src/command/api/client.ts';
import { type Command, readCommand, USAGE } from '../src/command/listen/command.ts';
import { eventFeed } from '../src/command/listen/event-feed.ts';
import { listen } from '../src/command/listen/run.ts';
import { systemLookup } from '../src/http/fetch/connect.ts';
import { systemClock } from '../src/lib/clock.ts';
import { createLogger } from '../src/lib/logger.ts';
import { newWebhookSecret } from '../src/payments/model/webhook.ts';
import { webhookSender } from '../src/payments/webhooks/sender.ts';

async function main(): Promise<void> {
  const command = readCommand(process.argv.slice(2));
  if ('help' in command) process.stdout.write(USAGE);
  else if ('fault' in command) refuse(`${command.fault}\n\n${USAGE}`, 2);
  else await run(command);
}

async function run({ url, key, forwardTo, since, secret = newWebhookSecret() }: Command): Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => ending.abort());
  const clock = systemClock;
  // Whoever runs this may send wherever they like, and to a name of the hosts file first of all.
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
    if (ended !== undefined) refuse(`${ended.refusal}\n`, 1);
  } catch (error) {
    if (error !== signal.reason && !(signal.aborted && isAbort(error))) throw error;
  } finally {
    await sender.close();
  }
}

/** Node's timers wrap the reason of a signal. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

function refuse(message: string, code: number): void {
  process.stderr.write(message);
  process.exitCode = code;
}

await main();
