import { Counter, Gauge, type Registry } from 'prom-client';
import { exactInteger } from '../db/columns.ts';
import type { Db } from '../db/open.ts';
import { SCRAPE_PATIENCE_MS } from '../http/chain-gauges.ts';
import { inTime } from '../lib/in-time.ts';
import { type ClockAndLog, logAndGoOn } from '../lib/logger.ts';
import { IS_OPEN } from './store/transfer-store.ts';
import { select } from './tables/select.ts';
import type { WebhookWithDue } from './webhooks/store/due-deliveries.ts';

/** Counters of events in this process. */
export interface PaymentsCounters {
  deliveryAttempt(result: 'success' | 'failure'): void;
  /** `pending`: the attempt failed and is retried. */
  notification(channel: 'email' | 'messenger', result: 'sent' | 'failed' | 'pending'): void;
  /** Counts an event that was handed to webhooks and notifications. */
  event(type: string): void;
  /** Counts that this process became the leader of a task, for example `watcher:1`. */
  leaderChange(task: string): void;
}

interface PaymentsMetricsOptions extends ClockAndLog {
  readonly registry: Registry;
  readonly db: Db;
  readonly webhooksWithDue: () => Promise<readonly WebhookWithDue[]>;
}

/** Scrapes within this time share one read of the database. */
const READ_EVERY_MS = 5_000;

/** Registers the metrics of payments. Counters count this process; gauges describe the shared database. */
export function paymentsMetrics(options: PaymentsMetricsOptions): PaymentsCounters {
  registerGauges(options);
  const registers = [options.registry];
  const deliveries = new Counter({
    name: 'tollgate_payments_delivery_attempts_total',
    help: 'Automatic attempts to deliver an event to a webhook, by result',
    labelNames: ['result'],
    registers,
  });
  const notifications = new Counter({
    name: 'tollgate_payments_notifications_total',
    help: 'Attempts to send a mail or a message, by channel and result',
    labelNames: ['channel', 'result'],
    registers,
  });
  const events = new Counter({
    name: 'tollgate_payments_events_total',
    help: 'Events handed to webhooks and notifications, by type',
    labelNames: ['type'],
    registers,
  });
  const leaderChanges = new Counter({
    name: 'tollgate_payments_leader_changes_total',
    help: 'Times that this process became the leader of a task, by task',
    labelNames: ['task'],
    registers,
  });
  return {
    deliveryAttempt: result => deliveries.inc({ result }),
    notification: (channel, result) => notifications.inc({ channel, result }),
    event: type => events.inc({ type }),
    leaderChange: task => leaderChanges.inc({ task }),
  };
}

/** Registers the numbers of live processes by role, as this process last read them. */
export function registerProcessGauge(
  registry: Registry,
  counts: () => Readonly<Record<string, number>>,
): void {
  new Gauge({
    name: 'tollgate_payments_processes',
    aggregator: 'max', // processes on one database report the same
    help: 'Live processes of the payments database, by role',
    labelNames: ['role'],
    registers: [registry],
    collect() {
      for (const [role, count] of Object.entries(counts())) this.set({ role }, count);
    },
  });
}

interface Snapshot extends QueueState {
  readonly oldestDueAgeSeconds: number;
}

/** A value with its labels. */
type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

function registerGauges(options: PaymentsMetricsOptions): void {
  const read = sharedRead(options);
  const gauge = (
    { name, help, label }: { name: string; help: string; label?: string },
    samplesOf: (snapshot: Snapshot) => readonly Sample[],
  ) =>
    new Gauge({
      name: `tollgate_payments_${name}`,
      aggregator: 'max', // processes on one database report the same
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [options.registry],
      async collect() {
        const snapshot = await read();
        this.reset();
        // A reset gauge without labels has the value 0. After a failed read it must be absent instead.
        if (label === undefined) this.remove();
        for (const [labels, value] of snapshot === undefined ? [] : samplesOf(snapshot))
          this.set(labels, value);
      },
    });
  gauge(
    { name: 'queue_length', help: 'Records that wait to be sent, by queue', label: 'queue' },
    ({ queues }) => queues.map(({ queue, length }) => [{ queue }, length]),
  );
  gauge(
    { name: 'oldest_due_delivery_age_seconds', help: 'Time since the oldest due delivery became due' },
    ({ oldestDueAgeSeconds }) => [[{}, oldestDueAgeSeconds]],
  );
  gauge(
    { name: 'open_sessions', help: 'Active checkout sessions, by state of their payment', label: 'state' },
    ({ openSessions }) => openSessions.map(({ state, count }) => [{ state }, count]),
  );
  gauge(
    {
      name: 'open_unmatched_transfers',
      help: 'Confirmed transfers that match no session and need a decision',
    },
    ({ openTransfers }) => [[{}, openTransfers]],
  );
  gauge(
    { name: 'disabled_webhooks', help: 'Webhooks that were disabled after failures' },
    ({ disabledWebhooks }) => [[{}, disabledWebhooks]],
  );
}

/**
 * Reads the database once for all gauges of a scrape. Undefined when the read fails, which is logged, or exceeds its
 * time. A silent database is not queried again before it answers, so scrapes do not use up the connection pool.
 */
function sharedRead({
  db,
  clock,
  log,
  webhooksWithDue,
}: PaymentsMetricsOptions): () => Promise<Snapshot | undefined> {
  let readAt = Number.NEGATIVE_INFINITY;
  let isReading = false;
  let latest: Promise<Snapshot | undefined> = Promise.resolve(undefined);

  async function read(): Promise<Snapshot> {
    const state = await queueState(db);
    const since = (await webhooksWithDue()).map(({ dueSince }) => dueSince);
    const oldest = Math.min(clock.now(), ...since);
    return { ...state, oldestDueAgeSeconds: (clock.now() - oldest) / 1000 };
  }

  async function readAgain(): Promise<Snapshot | undefined> {
    isReading = true;
    try {
      return await read();
    } catch (error) {
      logAndGoOn(log, 'reading the database for metrics')(error);
      return undefined;
    } finally {
      isReading = false;
    }
  }

  return () => {
    // The difference is absolute, because the clock may have been set back.
    const isOld = Math.abs(clock.now() - readAt) >= READ_EVERY_MS;
    if (isOld && !isReading) {
      readAt = clock.now();
      latest = readAgain();
    }
    return inTime(latest, SCRAPE_PATIENCE_MS).catch(() => undefined);
  };
}

/** Counts of open records, over all organizations and modes. */
interface QueueState {
  readonly queues: readonly { readonly queue: string; readonly length: number }[];
  /** Active sessions by the state of their payment. */
  readonly openSessions: readonly { readonly state: string; readonly count: number }[];
  readonly openTransfers: number;
  readonly disabledWebhooks: number;
}

const QUEUES = `select 'deliveries' as name, count(*) as total from deliveries where next_attempt_at is not null
  union all select 'events', count(*) from events where next_attempt_at is not null
  union all select 'email', count(*) from notices where channel = 'email' and next_attempt_at is not null
  union all select 'messenger', count(*) from notices where channel = 'messenger' and next_attempt_at is not null`;
const SESSIONS = `select payment_status as name, count(*) as total from checkout_sessions
  where status = 'active' group by payment_status`;
const OTHERS = `select 'transfers' as name, count(*) as total from unmatched_transfers
    where ${IS_OPEN}
  union all select 'webhooks', count(*) from webhooks where disabled_at is not null and deleted_at is null`;
const STATES = ['awaiting_payment', 'confirming', 'underpaid', 'failed'];

/** Counts open records. Partial indexes contain only these, so finished records cost nothing. */
async function queueState(db: Db): Promise<QueueState> {
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

const COUNTS = select({ computed: { name: ['text', 'name'], total: ['count', 'total'] } });

async function counts(db: Db, sql: string): Promise<Map<string, number>> {
  const rows = await COUNTS.rows(db, `from (${sql}) as counted`);
  return new Map(rows.map(({ name, total }) => [name, exactInteger(total)]));
}
