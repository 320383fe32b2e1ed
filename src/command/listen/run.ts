import type { Clock } from '#lib/clock.ts';
import type { EventFeed, NotAnswered } from './event-feed.ts';
import type { Attempt, ForwarderOptions } from './forwarder.ts';
import { forwarder } from './forwarder.ts';

export interface ListenOptions extends Omit<ForwarderOptions, 'onAttempt'> {
  readonly feed: EventFeed;
  /** From when on the feed tells events, in UTC milliseconds; undefined for those after its first look. */
  readonly since: number | undefined;
  /** Takes a line for people, without its end. */
  readonly say: (line: string) => void;
}

const PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/** Forwards events until the signal ends it, or answers with why the server refuses. An outage is waited out. */
export async function listen(options: ListenOptions): Promise<{ refusal: string } | undefined> {
  const { feed, since, forwardTo, clock, say, signal } = options;
  const begin = since === undefined ? 'now' : new Date(since).toISOString();
  let hasBegun = false;
  const forward = forwarder({ ...options, onAttempt: attempt => say(lineOf(attempt, clock)) });
  for (let failures = 0; ; ) {
    const looked = await feed.look();
    if (signal.aborted) return undefined;
    if ('events' in looked) {
      if (!hasBegun) say(`Events from ${begin} on go to ${forwardTo}. Ctrl+C ends it.`);
      else if (failures > 0) say('The server answers again.');
      hasBegun = true;
      failures = 0;
      for (const event of looked.events) {
        await forward(event);
        if (signal.aborted) return undefined;
      }
    } else {
      if (!mayPass(looked)) return { refusal: looked.message };
      if (failures === 0) say(`${looked.message} It is asked until it does.`);
      failures += 1;
    }
    await clock.sleep(Math.min(PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS), signal);
  }
}

/** A server that is starting, or behind a proxy that cannot reach it; not a key that is wrong. */
function mayPass(reply: NotAnswered): boolean {
  return reply.kind === 'away' || reply.status >= 500;
}

function lineOf(
  { event, isSuccess, responseCode, responseTimeMs, error, againInMs }: Attempt,
  clock: Clock,
): string {
  const time = new Date(clock.now()).toISOString().slice(11, 23);
  const came = responseCode === null ? 'no answer' : `${responseCode} in ${responseTimeMs} ms`;
  const next = againInMs === undefined ? 'Given up.' : `Again in ${againInMs / 1_000} s.`;
  return [time, event.event, event.id, came, ...(isSuccess ? [] : [`${error} ${next}`])].join('  ');
}
