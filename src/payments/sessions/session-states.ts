import { placeholders } from '../../db/insert.ts';
import type { Handle } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';
import type { SessionState } from '../model/session.ts';
import { STATE_COLUMNS, stateOf } from './session-rows.ts';

/** What payers follow of these sessions, by id, in one statement. Unknown ids are left out. */
export async function sessionStates(
  handle: Handle,
  ids: readonly string[],
): Promise<Map<string, SessionState>> {
  const sql = `select ${STATE_COLUMNS.join(', ')} from checkout_sessions where id in (${placeholders(ids.length)})`;
  const rows = await rowsOf<Parameters<typeof stateOf>[0]>(handle, sql, ids);
  return new Map(rows.map(row => [row.id, stateOf(row)]));
}
