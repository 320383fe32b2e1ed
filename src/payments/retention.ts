import type { Db } from '../db/open.ts';
import type { Clock } from '../lib/clock.ts';
import type { Seals } from '../lib/sealed.ts';
import type { Worker } from '../lib/worker.ts';
import { DELIVERY_LIFETIME_MS, deliveryStore } from './store/delivery-store.ts';
import { IDEMPOTENCY_LIFETIME_MS, idempotencyStore } from './store/idempotency-store.ts';
import { messengerLinks } from './store/messenger-links.ts';
import { noticeStore } from './store/notice-store.ts';
import { removeOldEvents } from './store/old-events.ts';
import { organizationStore } from './store/organization-store.ts';

/** How far back events are listed, and so kept, in milliseconds. Decision 113. */
export const EVENT_LIFETIME_MS = 90 * 24 * 60 * 60 * 1000;
/** How long notices are kept, in milliseconds: as long as deliveries, so that one can ask about both. */
const NOTICE_LIFETIME_MS = DELIVERY_LIFETIME_MS;
/** Rows that one statement removes: others write between two of them. */
const BATCH = 500;
const MODES = ['live', 'test'] as const;

/** Removes what nobody may ask for any more: answers kept for idempotency keys, events, deliveries, notices, and links that are over. Decisions 106, 113, 123 and 127. */
export function retentionWorker({ db, seals, clock }: { db: Db; seals: Seals; clock: Clock }): Worker {
  return {
    name: 'retention',
    async runOnce(signal) {
      const now = clock.now();
      let removed = await idempotencyStore(db, seals).purge(now - IDEMPOTENCY_LIFETIME_MS);
      removed += await deliveryStore(db, seals).removeOld({
        before: now - DELIVERY_LIFETIME_MS,
        limit: BATCH,
      });
      removed += await noticeStore(db, seals).removeOld({ before: now - NOTICE_LIFETIME_MS, limit: BATCH });
      removed += await messengerLinks(db).removeExpired(now);
      for (const { id: organizationId } of await organizationStore(db).list()) {
        for (const mode of MODES) {
          if (signal.aborted) return removed;
          const old = { before: now - EVENT_LIFETIME_MS, limit: BATCH };
          removed += await removeOldEvents(db, { organizationId, mode }, old);
        }
      }
      return removed;
    },
  };
}
