import { exactInteger } from '#db/columns.ts';
import type { Db } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';

/** Amounts of what waits, over all organizations and modes. */
export interface QueueState {
  readonly queues: readonly { readonly queue: string; readonly length: number }[];
  /** Active sessions by the state of their payment. */
  readonly openSessions: readonly { readonly state: string; readonly count: number }[];
  readonly openTransfers: number;
  readonly disabledWebhooks: number;
}

interface QueueCount {
  name: string;
  total: number | string;
}

const QUEUES = `select 'deliveries' as name, count(*) as total from deliveries where next_attempt_at is not null
  union all select 'events', count(*) from events where next_attempt_at is not null
  union all select 'email', count(*) from notices where channel = 'email' and next_attempt_at is not null
  union all select 'messenger', count(*) from notices where channel = 'messenger' and next_attempt_at is not null`;
const SESSIONS = `select payment_status as name, count(*) as total from checkout_sessions
  where status = 'active' group by payment_status`;
const OTHERS = `select 'transfers' as name, count(*) as total from unmatched_transfers
    where confirmed_at is not null and assigned_at is null
  union all select 'webhooks', count(*) from webhooks where disabled_at is not null`;
const STATES = ['awaiting_payment', 'confirming', 'underpaid', 'failed'];

/** Counts what waits. Partial indexes hold only what is counted, so finished records cost nothing. */
export async function queueState(db: Db): Promise<QueueState> {
  const queues = await counts(db, QUEUES);
  const sessions = await counts(db, SESSIONS);
  const others = await counts(db, OTHERS);
  return {
    queues: [...queues].map(([queue, length]) => ({ queue, length })),
    openSessions: STATES.map(state => ({ state, count: sessions.get(state) ?? 0 })),
    openTransfers: others.get('transfers') ?? 0,
    disabledWebhooks: others.get('webhooks') ?? 0,
  };
}

async function counts(db: Db, sql: string): Promise<Map<string, number>> {
  const rows = await rowsOf<QueueCount>(db, sql);
  return new Map(rows.map(({ name, total }) => [name, exactInteger(total)]));
}
