import type { Handle } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';

/** Chains with active sessions that should have ended by now (UTC milliseconds), configured ones or not. */
export async function dueChains(handle: Handle, now: number): Promise<number[]> {
  const rows = await rowsOf<{ chain_id: number }>(
    handle,
    "select distinct chain_id from checkout_sessions where status = 'active' and expires_at <= ?",
    [now],
  );
  return rows.map(row => row.chain_id);
}
