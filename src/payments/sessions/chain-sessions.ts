import type { Handle } from '../../db/open.ts';
import { select } from '../tables/select.ts';

/** Creation time of the first session on a chain, in UTC milliseconds; undefined when there was none. */
export async function earliestSession(handle: Handle, chainId: number): Promise<number | undefined> {
  const [row] = await select({
    from: 'checkout_sessions',
    computed: { earliest: ['time?', 'min(created_at)'] },
  }).rows(handle, 'where chain_id = ?', [chainId]);
  return row?.earliest ?? undefined;
}

/** Chains with active sessions past their deadline at `now` (UTC milliseconds), whether configured or not. */
export async function dueChains(handle: Handle, now: number): Promise<number[]> {
  const rows = await select({ from: 'checkout_sessions', isDistinct: true, columns: ['chain_id'] }).rows(
    handle,
    "where status = 'active' and expires_at <= ?",
    [now],
  );
  return rows.map(row => row.chain_id);
}
