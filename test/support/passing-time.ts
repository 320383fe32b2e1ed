import type { Db } from '../../src/db/open.ts';
import { rowsOf } from '../../src/db/query.ts';
import type { ManualClock } from './manual-clock.ts';
import { until } from './until.ts';

const STEP_MS = 2_500;
/** Rest of a row's 15 s just before its process extends it, every 5 s. */
const SHORTEST_REST_MS = 10_000;

/** Advances the clock of processes that share a payments database in steps, so that none of them counts as silent. */
export async function passTime(ms: number, { db, clock }: { db: Db; clock: ManualClock }): Promise<void> {
  for (let left = ms; left > 0; left -= STEP_MS) {
    clock.advance(Math.min(STEP_MS, left));
    const now = clock.now();
    await until(
      () =>
        rowsOf(db, `select name from leases where name like 'role:%' and expires_at > ? and expires_at < ?`, [
          now,
          now + SHORTEST_REST_MS,
        ]),
      late => late.length === 0,
    );
  }
}
