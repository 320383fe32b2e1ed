import { setImmediate } from 'node:timers/promises';
import { paymentsError } from '../../contract/contracts/payments-errors.ts';
import { InvalidBody } from '../../contract/contracts/violations.ts';
import type { Db, Transaction } from '../../db/open.ts';
import { timestamp } from '../../lib/clock.ts';
import {
  type EventPosition,
  type MissedOptions,
  missedEvents,
  positionBefore,
} from '../events/missed-events.ts';
import { replayStore } from '../events/replay-store.ts';
import type { Webhook } from '../model/webhook.ts';
import { lockedWebhook } from '../webhooks/store/attempt-rows.ts';
import { DELIVERY_LIFETIME_MS } from '../webhooks/store/delivery-store.ts';
import { webhookOf } from '../webhooks/store/webhook-store.ts';
import type { ApiCaller, ApiHandlers, PaymentsContext } from './gate/api-context.ts';
import { resourceNotFound, success } from './responses/answers.ts';

/** Maximum number of events per replay (Decision 224). */
const MAX_EVENTS = 10_000;
/** Events that one statement examines. Other statements run in between. */
const LOOKED_AT_ONCE = 500;

type Context = Pick<PaymentsContext, 'db' | 'clock'>;

/** Operation that sends the events that a webhook missed (Decision 224). */
export function replayHandlers({ db, clock }: Context) {
  return {
    replayWebhook: ({ path: { webhook_id: id }, body: { since } }, caller) =>
      caller.commitAround({
        async begin(handle): Promise<MissedOptions> {
          const now = clock.now();
          const time = Date.parse(since);
          if (!(time <= now)) throw new InvalidBody('since', 'must be in the past');
          const webhook = await replayable(handle, { caller, id });
          const start = Math.max(time, now - DELIVERY_LIFETIME_MS);
          return { webhook, after: positionBefore(start), until: now + 1 };
        },
        // One statement over a month of events would block all other requests on SQLite.
        send: options => countMissed(db, options),
        async end(handle, { after, until }, { count, hasMore }) {
          const { organizationId, mode } = await replayable(handle, { caller, id });
          const replay = { organizationId, mode, webhookId: id, after, until, remaining: count };
          if (count > 0) await replayStore(handle).insert(replay, clock.now());
          return {
            status: 200,
            body: success({
              object: 'webhook_replay',
              webhook_id: id,
              since: timestamp(after.time),
              count,
              has_more: hasMore,
            } as const),
          };
        },
      }),
  } satisfies ApiHandlers;
}

/** The webhook, if a replay may start. @throws HttpError when there is none or its state forbids it */
async function replayable(
  handle: Transaction,
  { caller, id }: { caller: ApiCaller; id: string },
): Promise<Webhook> {
  // The lock makes the second of two concurrent replays see the first.
  const row = await lockedWebhook(handle, caller, id);
  if (row === undefined) throw resourceNotFound('webhook', id);
  const webhook = webhookOf(row);
  if (!webhook.isActive) throw cannotReplay('The webhook is not active, so nothing can be sent to it.');
  if (await replayStore(handle).isUnderWay(id)) throw cannotReplay('A replay of this webhook is under way.');
  return webhook;
}

function cannotReplay(reason: string) {
  return paymentsError('invalid_status_transition', reason);
}

/** Counts the events that a webhook missed, up to the bound of one replay. `hasMore` is true when there are more. */
async function countMissed(db: Db, options: MissedOptions): Promise<{ count: number; hasMore: boolean }> {
  let count = 0;
  let after: EventPosition | undefined = options.after;
  while (after !== undefined && count <= MAX_EVENTS) {
    const { missed, last } = await missedEvents(db, { ...options, after }, LOOKED_AT_ONCE);
    count += missed.length;
    after = last;
    await setImmediate();
  }
  return { count: Math.min(count, MAX_EVENTS), hasMore: count > MAX_EVENTS };
}
