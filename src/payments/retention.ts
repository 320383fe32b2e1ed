import type { Db } from '../db/open.ts';
import type { Clock } from '../lib/clock.ts';
import type { Seals } from '../lib/sealed.ts';
import type { Worker } from '../lib/worker.ts';
import { IDEMPOTENCY_LIFETIME_MS, idempotencyStore } from './store/idempotency-store.ts';
import { removeOldEvents } from './store/old-events.ts';
import { organizationStore } from './store/organization-store.ts';

/** How far back events are listed, and so kept, in milliseconds. Decision 113. */
export const EVENT_LIFETIME_MS = 90 * 24 * 60 * 60 * 1000;
/** Rows that one statement removes: others write between two of them. */
const BATCH = 500;
const MODES = ['live', 'test'] as const;

/** Removes what nobody may ask for any more: answers kept for idempotency keys, and events. Decisions 106 and 113. */
export function retentionWorker({ db, seals, clock }: { db: Db; seals: Seals; clock: Clock }): Worker {
  return {
    name: 'retention',
    async runOnce(signal) {
      const now = clock.now();
      let removed = await idempotencyStore(db, seals).purge(now - IDEMPOTENCY_LIFETIME_MS);
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
