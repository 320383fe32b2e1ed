import type { Db } from '../../src/db/open.ts';
import { rowsOf } from '../../src/db/query.ts';
import { presenceStore } from '../../src/payments/store/presence-store.ts';
import { until } from '../lab/until.ts';
import type { ManualClock } from './manual-clock.ts';

const STEP_MS = 2_500;
/** Remaining time of a row's 15 s when a process extends it two steps late. */
const SHORTEST_REST_MS = 5_000;

/**
 * Advances the clock of processes on one payments database in steps, so none of them counts as silent. `keep` extends the
 * presence of a process that the test only claims to exist.
 */
export async function passTime(
  ms: number,
  { db, clock, keep }: { db: Db; clock: ManualClock; keep?: (() => Promise<void>) | undefined },
): Promise<void> {
  for (let left = ms; left > 0; left -= STEP_MS) {
    clock.advance(Math.min(STEP_MS, left));
    await keep?.();
    const now = clock.now();
    await until(
      async () => {
        const late = await rowsOf(
          db,
          `select name from leases where name like 'role:%' and expires_at > ? and expires_at < ?`,
          [now, now + SHORTEST_REST_MS],
        );
        // A process that began its pause after the clock advanced would sleep too long.
        if (late.length > 0) presenceStore(db).announce();
        return late;
      },
      late => late.length === 0,
    );
  }
}
