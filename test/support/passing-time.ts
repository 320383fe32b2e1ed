import type { Db } from '../../src/db/open.ts';
import { rowsOf } from '../../src/db/query.ts';
import { presenceStore } from '../../src/payments/store/presence-store.ts';
import type { ManualClock } from './manual-clock.ts';
import { until } from './until.ts';

const STEP_MS = 2_500;
/** Rest of a row's 15 s when a process that is two steps late extends it. */
const SHORTEST_REST_MS = 5_000;

/** Advances the clock of processes that share a payments database in steps, so that none of them counts as silent. */
export async function passTime(ms: number, { db, clock }: { db: Db; clock: ManualClock }): Promise<void> {
  for (let left = ms; left > 0; left -= STEP_MS) {
    clock.advance(Math.min(STEP_MS, left));
    const now = clock.now();
    await until(
      async () => {
        const late = await rowsOf(
          db,
          `select name from leases where name like 'role:%' and expires_at > ? and expires_at < ?`,
          [now, now + SHORTEST_REST_MS],
        );
        // One that went to rest after the clock had advanced would sleep for too long.
        if (late.length > 0) presenceStore(db).announce();
        return late;
      },
      late => late.length === 0,
    );
  }
}
