import { RELEASE_LEASE } from '../../db/lease.ts';
import type { Handle } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import type { Logger } from '../../lib/logger.ts';
import { SealError } from './sealed.ts';

/** Rows whose sealed values were opened, and those that could not be opened. */
export interface OpenedRows<Opened> {
  readonly opened: Opened[];
  /** Ids of the other rows. The reasons are in the log. */
  readonly unopened: string[];
}

/** Opens each row on its own, so that a damaged value or a lost key does not hold up other rows. */
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
      // Logs the message only, which names the cell and never contains the value.
      log.error(
        { id: row.id, reason: error.message },
        'a sealed value cannot be opened; it is tried again later',
      );
      unopened.push(row.id);
    }
  }
  return { opened, unopened };
}

/** Rows that were taken and could not be opened, and the time of their next attempt. */
export interface Postponement {
  readonly table: 'events' | 'deliveries' | 'notices';
  readonly ids: readonly string[];
  /** UTC milliseconds. */
  readonly until: number;
  /** SQL assignment that undoes part of the taking, such as `attempts = attempts - 1`. */
  readonly undo?: string;
}

/** Releases taken rows and postpones them until a time. */
export async function postponeRows(handle: Handle, { table, ids, until, undo }: Postponement): Promise<void> {
  if (ids.length === 0) return;
  await execute(
    handle,
    `update ${table} set next_attempt_at = ?, ${RELEASE_LEASE}${undo === undefined ? '' : `, ${undo}`}
     where id in (${placeholders(ids.length)})`,
    [until, ...ids],
  );
}
