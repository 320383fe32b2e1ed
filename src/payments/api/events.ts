import type { PaymentsHandlers } from '../../contract/contracts/payments.ts';
import { DAY_MS } from '../../lib/clock.ts';
import { eventStore } from '../events/event-store.ts';
import type { PaymentsContext } from './gate/api-context.ts';
import type { AnonymousCaller, ApiCaller } from './gate/caller.ts';
import { eventBody } from './responses/event-body.ts';
import { pagedList } from './responses/paged-list.ts';

/** How far back events are told. Decision 113. */
const EVENTS_FOR_MS = 90 * DAY_MS;

/** What happened, for receivers that missed it. */
export function eventHandlers({
  db,
  seals,
  clock,
}: PaymentsContext): Pick<PaymentsHandlers<ApiCaller, AnonymousCaller>, 'listEvents'> {
  return {
    async listEvents({ query: { type, page, limit } }, caller) {
      const filters = { type, since: clock.now() - EVENTS_FOR_MS };
      const events = await eventStore(db, seals).list(caller, filters, { page, limit });
      return { status: 200, body: pagedList('/api/v1/events', events, eventBody) };
    },
  };
}
