import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import type { Clock } from '#lib/clock.ts';
import type { ApiClient, ApiReply } from '../api/client.ts';

type Event = PaymentsSchemas['EventRecord'];
type EventList = PaymentsSchemas['EventList'];

/** Reason why a poll returned no events. */
export type NotAnswered = Extract<ApiReply<never>, { kind: 'refused' | 'away' }>;

/** Feed of the events of an organization. */
export interface EventFeed {
  /**
   * Polls for events that are new since the previous poll, oldest first. Without `since` the first poll returns none.
   */
  look(): Promise<{ readonly events: readonly Event[] } | NotAnswered>;
}

interface EventFeedOptions {
  readonly client: ApiClient;
  /** The first poll returns events from this time on (UTC ms); undefined for none. */
  readonly since: number | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const LIMIT = 100;
/**
 * Distance behind the newest event that each poll reads again; longer than any transaction lasts. An event is dated
 * when its transaction begins to write and listed after the commit, so it may appear behind newer ones.
 */
const OVERLAP_MS = 60_000;
const TOO_MANY_REQUESTS = 429;

/** Reads the list of events from the newest back to the end of the overlap. */
export function eventFeed({ client, since, clock, signal }: EventFeedOptions): EventFeed {
  /** Ids of the events within the overlap, with their times. */
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
        if (page === 1) firstEtag = reply.headers.get('etag');
        horizon ??= timeOf(data[0]) - OVERLAP_MS;
        const from = horizon;
        // Events that arrive during a poll move others to the next page, so an event may be read twice.
        for (const event of data) if (timeOf(event) >= from) found.set(event.id, event);
        if (!has_more || data.some(event => timeOf(event) < from)) break;
      }
      const fresh = [...found.values()].filter(({ id }) => !seen.has(id)).reverse();
      for (const event of found.values()) newest = Math.max(newest, timeOf(event));
      for (const event of fresh) seen.set(event.id, timeOf(event));
      forgetBefore(newest - OVERLAP_MS);
      const isNew = !isFirst || since !== undefined;
      isFirst = false;
      // Set last: after a poll that failed half-way, the next one must read the list again.
      etag = firstEtag;
      return { events: isNew ? fresh : [] };
    },
  };

  /** Reads a page, and waits after a 429. A poll that started over would never reach the end of a long list. */
  async function pageOf(page: number): Promise<ApiReply<EventList>> {
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

/** Time of an event in UTC milliseconds; minus infinity without an event. */
function timeOf(event: Event | undefined): number {
  return event === undefined ? Number.NEGATIVE_INFINITY : Date.parse(event.created_at);
}
