import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import type { Clock } from '#lib/clock.ts';
import type { ApiClient, Reply } from '../api/client.ts';

type Event = PaymentsSchemas['EventRecord'];
type EventList = PaymentsSchemas['EventList'];

/** Why a look at the events came to nothing. */
export type NotAnswered = Extract<Reply<never>, { kind: 'refused' | 'away' }>;

/** The events of an organization as they come. */
export interface EventFeed {
  /** Those that were not there at the look before, the oldest first. The first look finds none without `since`. */
  look(): Promise<{ readonly events: readonly Event[] } | NotAnswered>;
}

export interface EventFeedOptions {
  readonly client: ApiClient;
  /** Events from then on (UTC ms) are new to the first look; undefined for none. */
  readonly since: number | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const LIMIT = 100;
/**
 * An event is dated when its transaction begins to write and listed when that is over, so one may turn up among older
 * ones. So far back from the newest they are looked for: longer than any transaction lasts.
 */
const OVERLAP_MS = 60_000;
const TOO_MANY_REQUESTS = 429;

/** Looks through the list of events, from the newest back to where nothing new can be. */
export function eventFeed({ client, since, clock, signal }: EventFeedOptions): EventFeed {
  /** Ids from the overlap on, with their times. */
  const seen = new Map<string, number>();
  let newest = Number.NEGATIVE_INFINITY;
  let etag: string | null = null;
  let isFirst = true;

  return {
    async look() {
      const found = new Map<string, Event>();
      let firstEtag: string | null = null;
      let horizon = isFirst ? since : Math.max(newest - OVERLAP_MS, since ?? Number.NEGATIVE_INFINITY);
      for (let page = 1; ; page += 1) {
        const reply = await pageOf(page);
        if (reply.kind === 'unchanged') return { events: [] };
        if (reply.kind !== 'done') return reply;
        const { data, has_more } = reply.body;
        if (page === 1) firstEtag = reply.etag;
        horizon ??= timeOf(data[0]) - OVERLAP_MS;
        const from = horizon;
        // What came meanwhile has moved events on to the next page, where they are met again.
        for (const event of data) if (timeOf(event) >= from) found.set(event.id, event);
        if (!has_more || data.some(event => timeOf(event) < from)) break;
      }
      const fresh = [...found.values()].filter(({ id }) => !seen.has(id)).reverse();
      for (const event of found.values()) newest = Math.max(newest, timeOf(event));
      for (const event of fresh) seen.set(event.id, timeOf(event));
      forgetBefore(newest - OVERLAP_MS);
      const isNew = !isFirst || since !== undefined;
      isFirst = false;
      // Not sooner: a look that failed half-way has to find the rest.
      etag = firstEtag;
      return { events: isNew ? fresh : [] };
    },
  };

  /** Waits when there were too many requests: beginning anew would never reach the end of a long list. */
  async function pageOf(page: number): Promise<Reply<EventList>> {
    for (;;) {
      const isKnown = page === 1 && etag !== null;
      const reply = await client.ask<EventList>({
        path: `/api/v1/events?limit=${LIMIT}&page=${page}`,
        ...(isKnown ? { headers: { 'If-None-Match': etag ?? '' } } : {}),
      });
      if (reply.kind !== 'refused' || reply.status !== TOO_MANY_REQUESTS) return reply;
      await clock.sleep(reply.retryAfterMs ?? 1_000, signal);
    }
  }

  function forgetBefore(time: number): void {
    for (const [id, at] of seen) if (at < time) seen.delete(id);
  }
}

/** UTC milliseconds; before everything when there is no event. */
function timeOf(event: Event | undefined): number {
  return event === undefined ? Number.NEGATIVE_INFINITY : Date.parse(event.created_at);
}
