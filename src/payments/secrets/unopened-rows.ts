import { LET_GO } from '../../db/lease.ts';
import type { Handle } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import type { Logger } from '../../lib/logger.ts';
import { SealError } from './sealed.ts';

/** Rows after their sealed values were opened, as far as they do open. */
export interface OpenedRows<Opened> {
  readonly opened: Opened[];
  /** The ids of the others, which the log has with the reason. */
  readonly unopened: string[];
}

/** Opens each row by itself: one that is damaged, or whose key is lost, keeps no other from its turn. */
export function openEach<Row extends { id: string }, Opened>(
  rows: readonly Row[],
  open: (row: Row) => Opened,
  log: Logger,
): OpenedRows<Opened> {
  const opened: Opened[] = [];
  const unopened: string[] = [];
  for (const row of rows) {
    try {
      opened.push(open(row));
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      // The sentence alone: it names the cell and never what is in it.
      log.error(
        { id: row.id, reason: error.message },
        'a sealed value does not open, and is tried again later',
      );
      unopened.push(row.id);
    }
  }
  return { opened, unopened };
}

/** Until when taken rows that do not open wait, and what else of the taking is undone. */
export interface PuttingOff {
  readonly table: 'events' | 'deliveries' | 'notices';
  readonly ids: readonly string[];
  /** UTC milliseconds. */
  readonly until: number;
  /** Such as `attempts = attempts - 1`: nothing was attempted. */
  readonly undo?: string;
}

/** Lets go of taken rows until a time. */
export async function putOff(handle: Handle, { table, ids, until, undo }: PuttingOff): Promise<void> {
  if (ids.length === 0) return;
  await execute(
    handle,
    `update ${table} set next_attempt_at = ?, ${LET_GO}${undo === undefined ? '' : `, ${undo}`}
     where id in (${placeholders(ids.length)})`,
    [until, ...ids],
  );
}
