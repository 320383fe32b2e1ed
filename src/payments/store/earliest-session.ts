import type { Handle } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';

/** When the first session on a chain was opened, in UTC milliseconds; undefined when there was none. */
export async function earliestSession(handle: Handle, chainId: number): Promise<number | undefined> {
  const [row] = await rowsOf<{ earliest: number | null }>(
    handle,
    'select min(created_at) as earliest from checkout_sessions where chain_id = ?',
    [chainId],
  );
  return row?.earliest ?? undefined;
}
