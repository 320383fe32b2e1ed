import { openQueryDatabase, openSqliteEngine } from '#indexer/query/sqlite/sqlite-engine.ts';
import type { Figure } from '../figure.ts';
import { inTurns, QUICK, type Rounds, timeRatio } from '../turns.ts';
import type { BulkIndex } from './bulk-index.ts';
import { type Case, countOver, outcomeOf, PAGES, sumBySender } from './cases.ts';

const LONG: Rounds = { warm: 1, rounds: 5, timed: cpuMs };
const MAX_OVER_HAND = 1.3;
const MAX_OVER_COUNT = 1.15;
const MAX_GROWTH = 1.5;

/**
 * Median time (for sums, CPU time) of the engine over that of the same hand-written SQL. Both alternate on two
 * connections with the same settings, count, break ties by place and show the same columns. The hand-written statements
 * are prepared once.
 */
export async function overHand(index: BulkIndex): Promise<Figure[]> {
  const tenth = countOver('count over a tenth of the rows, 100,000', ({ blocks }) => blocks / 10);
  const figures: Figure[] = [];
  for (const one of PAGES) figures.push(await compared(one, index, { ...QUICK, most: MAX_OVER_HAND }));
  figures.push(await compared(tenth, index, { ...QUICK, most: MAX_OVER_COUNT }));
  for (const one of [sumBySender('gas_used'), sumBySender('value')])
    figures.push(await compared(one, index, { ...LONG, most: MAX_OVER_HAND }));
  return figures;
}

/** Median time of indexed queries in the large index over the small one, with the same number of matches. */
export async function growth(small: BulkIndex, large: BulkIndex): Promise<Figure[]> {
  const ranged = countOver('count over 1,000 blocks, 10,000 rows', () => 1_000);
  const figures: Figure[] = [];
  for (const one of [...PAGES, ranged]) {
    const engines = { small: engineOf(small), large: engineOf(large) };
    try {
      const times = await inTurns(QUICK, [
        round => engines.small.run(one.query(round, small)),
        round => engines.large.run(one.query(round, large)),
      ]);
      figures.push(
        timeRatio(`${one.name}, at 1,000,000 transactions over 100,000`, times, { atMost: MAX_GROWTH }),
      );
    } finally {
      await Promise.all([engines.small.close(), engines.large.close()]);
    }
  }
  return figures;
}

async function compared(
  one: Case,
  index: BulkIndex,
  { most, ...rounds }: Rounds & { most: number },
): Promise<Figure> {
  const engine = engineOf(index);
  const db = openQueryDatabase({ file: index.file, tick: () => undefined });
  db.defaultSafeIntegers(false);
  try {
    const byHand = one.byHand(db);
    for (const round of [0, 1, 2]) {
      const [ours, theirs] = [outcomeOf(await engine.run(one.query(round, index))), byHand(round, index)];
      if (ours.size !== theirs.size || ours.first !== theirs.first)
        throw new Error(`${one.name}: ${JSON.stringify(ours)} by hand is ${JSON.stringify(theirs)}`);
    }
    const times = await inTurns(rounds, [
      round => byHand(round, index),
      round => engine.run(one.query(round, index)),
    ]);
    return timeRatio(`${one.name}, engine over SQL by hand`, times, { atMost: most });
  } finally {
    await engine.close();
    db.close();
  }
}

function engineOf({ file }: BulkIndex) {
  return openSqliteEngine({ file, tick: () => undefined });
}

/** CPU time of this thread, which other processes do not affect. Its steps of some milliseconds suit long work only. */
async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
