import type { Db } from '#db/open.ts';
import { until } from '#test/lab/until.ts';

/**
 * Updates the statistics of PostgreSQL's planner, and vacuums until every row of the schema has been seen by a vacuum. One
 * during another transaction of the database passes over rows, and then plans are other ones.
 */
export async function vacuum(db: Db): Promise<void> {
  await until(
    async () => {
      await db.raw('vacuum analyze');
      const { rows } = await db.raw(`select relname, relpages, relallvisible from pg_class
      where relkind = 'r' and relnamespace = current_schema()::regnamespace and relallvisible < relpages`);
      return rows;
    },
    unseen => unseen.length === 0,
  );
}
