import type { Binding } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { execute } from '#db/query.ts';
import type { Delivery } from '../model/webhook.ts';

/** Rows that one statement writes: each has as many parameters as there are columns. */
const BATCH = 500;

/** The columns of an outcome, with the types that PostgreSQL cannot see in a parameter. */
const COLUMNS = {
  id: 'text',
  token: 'text',
  status: 'text',
  response_code: 'bigint',
  response_time_ms: 'bigint',
  automatic_failures: 'bigint',
  has_failed: 'boolean',
  last_error: 'text',
  ended_at: 'bigint',
  next_attempt_at: 'bigint',
} as const;

/** Writes deliveries whose attempt has ended, and lets go of them; one that its token no longer holds stays as it is. */
export async function writeOutcomes(
  handle: Handle,
  ended: readonly { delivery: Delivery; token: string }[],
): Promise<void> {
  const types = Object.values(COLUMNS).map(type => `cast(? as ${type})`);
  for (let start = 0; start < ended.length; start += BATCH) {
    const part = ended.slice(start, start + BATCH);
    // The last condition says nothing new: without it SQLite goes through the whole table for some hundred rows.
    await execute(
      handle,
      `with outcome (${Object.keys(COLUMNS).join(', ')}) as (
         values ${part.map(() => `(${types.join(', ')})`).join(', ')}
       )
       update deliveries set status = outcome.status, response_code = outcome.response_code,
         response_time_ms = outcome.response_time_ms, automatic_failures = outcome.automatic_failures,
         has_failed = outcome.has_failed, last_error = outcome.last_error, ended_at = outcome.ended_at,
         next_attempt_at = outcome.next_attempt_at, sending = null, locked_until = null, locked_by = null
       from outcome where deliveries.id = outcome.id and deliveries.locked_by = outcome.token
         and deliveries.id in (select id from outcome)`,
      part.flatMap(({ delivery, token }) => Object.values(valuesOf(delivery, token))),
    );
  }
}

function valuesOf(delivery: Delivery, token: string) {
  return {
    id: delivery.id,
    token,
    status: delivery.status,
    response_code: delivery.responseCode,
    response_time_ms: delivery.responseTimeMs,
    automatic_failures: delivery.automaticFailures,
    has_failed: delivery.hasFailed,
    last_error: delivery.lastError,
    ended_at: delivery.endedAt,
    next_attempt_at: delivery.nextAttemptAt,
  } satisfies Record<keyof typeof COLUMNS, Binding>;
}
