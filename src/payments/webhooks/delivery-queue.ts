import type { Db } from '../../db/open.ts';
import { lockedTransaction } from '../../db/transaction.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { AttemptResult, ClaimedDelivery, Delivery, Receiver } from '../model/webhook.ts';
import type { Seals } from '../secrets/sealed.ts';
import { openEach } from '../secrets/unopened-rows.ts';
import { endAttempts } from './attempt-lifecycle.ts';
import { markTriggered, writeOutcomes } from './store/attempt-rows.ts';
import { deliveryAt } from './store/delivery-store.ts';
import {
  cutOffDeliveries,
  lockedActive,
  putOffAll,
  takeDeliveries,
  type WebhookWithDue,
  webhooksWithDue,
} from './store/due-deliveries.ts';
import { receiverOf } from './store/webhook-store.ts';

/** What is written for a manual attempt that nobody brought to its end. */
const CUT_OFF = 'The attempt was cut off by the end of our process.';

/** Deliveries of one webhook with an automatic attempt begun. */
export interface LeasedDelivery {
  readonly receiver: Receiver;
  /** In no order that matters. */
  readonly deliveries: readonly ClaimedDelivery[];
}

/** What is to be delivered, taken by one process at a time. What a process died over falls due when its lease ends. */
export interface DeliveryQueue {
  /** In no order that matters. */
  webhooksWithDue(): Promise<WebhookWithDue[]>;
  /**
   * Begins up to so many attempts a webhook, all in one transaction. Webhooks with none are left out. What does not open
   * waits as long as a lease, without an attempt.
   */
  takeDue(wanted: readonly { webhookId: string; limit: number }[]): Promise<LeasedDelivery[]>;
  /** `endAttempts` for many, in one transaction. */
  settleAll(results: readonly AttemptResult[]): Promise<Delivery[]>;
  /** Ends up to `limit` manual attempts, tests included, that their process died over; answers with how many. */
  endCutOff(limit: number): Promise<number>;
}

export interface DeliveryQueueDeps {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly log: Logger;
}

export function deliveryQueue(deps: DeliveryQueueDeps): DeliveryQueue {
  const { db, seals, clock, log } = deps;
  return {
    webhooksWithDue: () => webhooksWithDue(db, clock.now()),

    takeDue(wanted) {
      return lockedTransaction(db, async handle => {
        const limits = new Map(wanted.map(({ webhookId, limit }) => [webhookId, limit]));
        const claims: LeasedDelivery[] = [];
        const webhooks = await lockedActive(handle, [...limits.keys()]);
        const { opened: receivers, unopened } = openEach(webhooks, row => receiverOf(row, seals), log);
        for (const webhookId of unopened) await putOffAll(handle, webhookId, clock.now());
        for (const receiver of receivers) {
          const { webhookId } = receiver;
          const limit = limits.get(webhookId) ?? 0;
          const taken = await takeDeliveries(handle, { webhookId, limit }, deps);
          if (taken.length > 0) claims.push({ receiver, deliveries: taken });
        }
        await markTriggered(
          handle,
          claims.map(({ receiver }) => receiver.webhookId),
          clock.now(),
        );
        return claims;
      });
    },

    settleAll: results => lockedTransaction(db, handle => endAttempts(handle, seals, results, clock.now())),

    endCutOff(limit) {
      return lockedTransaction(db, async handle => {
        const now = clock.now();
        const ended = (await cutOffDeliveries(handle, limit, now)).map(row => ({
          delivery: { ...deliveryAt(row, now), lastError: CUT_OFF, endedAt: now },
          token: row.locked_by ?? '',
        }));
        await writeOutcomes(handle, ended);
        return ended.length;
      });
    },
  };
}
