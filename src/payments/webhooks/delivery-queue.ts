import type { Db, Transaction } from '../../db/open.ts';
import { lockedTransaction } from '../../db/transaction.ts';
import type { ClockAndLog } from '../../lib/logger.ts';
import type { AttemptResult, ClaimedDelivery, Delivery, DisableAfterMs, Receiver } from '../model/webhook.ts';
import type { Seals } from '../secrets/sealed.ts';
import { openEach } from '../secrets/unopened-rows.ts';
import { endAttempts } from './attempt-lifecycle.ts';
import { lockWebhooks, markTriggered, writeOutcomes } from './store/attempt-rows.ts';
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

/** Error of a manual attempt whose process ended before it. */
const CUT_OFF = 'The attempt was interrupted because our process ended.';

/** Deliveries of one webhook whose automatic attempts have begun. */
export interface LeasedDelivery {
  readonly receiver: Receiver;
  /** Unordered. */
  readonly deliveries: readonly ClaimedDelivery[];
}

/** Changes of deliveries in one transaction. */
interface DeliveryChanges {
  /** Results of attempts that have ended. */
  readonly results?: readonly AttemptResult[];
  /** Webhooks to begin attempts for, up to `limit` each. */
  readonly wanted?: readonly { webhookId: string; limit: number }[];
}

/**
 * Due deliveries, each taken by one process at a time. The deliveries of a crashed process fall due when its lease
 * ends.
 */
export interface DeliveryQueue {
  /** Unordered. */
  webhooksWithDue(): Promise<WebhookWithDue[]>;
  /**
   * Ends attempts as `endAttempts` does, then begins others, in one transaction. `begun` contains only webhooks with
   * attempts. A delivery that cannot be decrypted waits for the time of a lease, without an attempt.
   */
  exchange(what: DeliveryChanges): Promise<{ ended: Delivery[]; begun: LeasedDelivery[] }>;
  /** Ends up to `limit` manual attempts, tests included, of crashed processes. Returns their number. */
  endCutOff(limit: number): Promise<number>;
}

export interface DeliveryQueueDeps extends ClockAndLog {
  readonly db: Db;
  readonly seals: Seals;
  readonly disableAfterMs?: DisableAfterMs | undefined;
}

export function deliveryQueue(deps: DeliveryQueueDeps): DeliveryQueue {
  const { db, seals, clock, log, disableAfterMs } = deps;
  return {
    webhooksWithDue: () => webhooksWithDue(db, clock.now()),

    exchange({ results = [], wanted = [] }) {
      return lockedTransaction(db, async handle => {
        const webhookIds = wanted.map(({ webhookId }) => webhookId);
        await lockWebhooks(handle, { webhookIds, deliveryIds: results.map(({ id }) => id) });
        const ended = await endAttempts(handle, seals, results, { now: clock.now(), disableAfterMs });
        return { ended, begun: await begin(handle, wanted) };
      });
    },

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

  async function begin(
    handle: Transaction,
    wanted: NonNullable<DeliveryChanges['wanted']>,
  ): Promise<LeasedDelivery[]> {
    const limits = new Map(wanted.map(({ webhookId, limit }) => [webhookId, limit]));
    const begun: LeasedDelivery[] = [];
    const webhooks = await lockedActive(handle, [...limits.keys()]);
    const { opened: receivers, unopened } = openEach(webhooks, row => receiverOf(row, seals), log);
    for (const webhookId of unopened) await putOffAll(handle, webhookId, clock.now());
    for (const receiver of receivers) {
      const { webhookId } = receiver;
      const limit = limits.get(webhookId) ?? 0;
      const deliveries = await takeDeliveries(handle, { webhookId, limit }, deps);
      if (deliveries.length > 0) begun.push({ receiver, deliveries });
    }
    await markTriggered(
      handle,
      begun.map(({ receiver }) => receiver.webhookId),
      clock.now(),
    );
    return begun;
  }
}
