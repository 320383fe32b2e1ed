import type { Handle } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';
import type { ComputedColumns } from '../tables/computed-columns.ts';
import type { SessionRow } from '../tables/session-tables.ts';

/** Creation time of the first session on a chain, in UTC milliseconds; undefined when there was none. */
export async function earliestSession(handle: Handle, chainId: number): Promise<number | undefined> {
  const [row] = await rowsOf<Pick<ComputedColumns, 'earliest'>>(
    handle,
    'select min(created_at) as earliest from checkout_sessions where chain_id = ?',
    [chainId],
  );
  return row?.earliest ?? undefined;
}

/** Chains with active sessions past their deadline at `now` (UTC milliseconds), whether configured or not. */
export async function dueChains(handle: Handle, now: number): Promise<number[]> {
  const rows = await rowsOf<Pick<SessionRow, 'chain_id'>>(
    handle,
    "select distinct chain_id from checkout_sessions where status = 'active' and expires_at <= ?",
    [now],
  );
  return rows.map(row => row.chain_id);
}
