import type { Knex } from 'knex';
import pg from 'pg';
import type { Clock } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import { type Logger, logAndGoOn } from '../lib/logger.ts';
import { Unavailable } from '../lib/unavailable.ts';
import { type RunningWorker, startWorker } from '../lib/worker.ts';
import type { Connect } from './postgres/connection.ts';

/** Notifies workers of this and other processes of new work. Notifications can be lost, so workers also poll. */
export interface Wakeups {
  /** Calls `listener` whenever the topic is announced. Returns a function that stops this. */
  on(topic: string, listener: () => void): () => void;
  /** Wakes listeners of these topics in all processes. Call it after the commit of the work. */
  announce(topics: Iterable<string>): void;
  /** Wakes listeners in this process only. */
  wake(topics: Iterable<string>): void;
  /** True when announcements of other processes arrive. Otherwise workers have to poll often. */
  isListening(): boolean;
  /** Stops listening and resolves when nothing more is sent. */
  close(): Promise<void>;
}

/** Wake-ups within one process. */
export function localWakeups(): Wakeups {
  const listeners = new Map<string, Set<() => void>>();

  function wake(topics: Iterable<string>): void {
    for (const topic of topics) for (const listener of listeners.get(topic) ?? []) listener();
  }

  return {
    on(topic, listener) {
      const all = listeners.get(topic) ?? new Set();
      listeners.set(topic, all.add(listener));
      return () => void all.delete(listener);
    },
    announce: wake,
    wake,
    isListening: () => false,
    close: async () => {},
  };
}

const CHANNEL = 'tollgate';
/** Topic that a process announces to itself when it begins to listen. */
const HELLO = 'hello';
const HELLO_MS = 5_000;
/** Interval of keep-alive queries: routers drop connections that are idle for some minutes. */
const HEARTBEAT_MS = 30_000;
/** Idle timeout of the listening connection: longer than the interval of heartbeats. */
export const LISTENING_SILENCE_MS = HEARTBEAT_MS + 15_000;
/** Delay after a lost connection, and first delay after a failure. */
const PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export interface PostgresWakeupsOptions {
  /** Pool for sending announcements. */
  readonly knex: Knex;
  /** Opens the listening connection. It must not go through a pooler. */
  readonly connect: Connect;
  readonly log: Logger;
  readonly clock: Clock;
}

/**
 * Wake-ups by LISTEN and NOTIFY among all processes of one database. The listening connection is opened for the first
 * listener and reopened whenever it is lost. Source: PostgreSQL, "NOTIFY".
 */
export function postgresWakeups({ knex, connect, log, clock }: PostgresWakeupsOptions): Wakeups {
  const local = localWakeups();
  const sender = newId('wake');
  const topics = new Set<string>();
  const unsent = new Set<string>();
  let sending: Promise<void> | undefined;
  let running: RunningWorker | undefined;
  let isListening = false;
  let isClosed = false;

  function send(names: Iterable<string>): void {
    for (const name of names) unsent.add(name);
    sending ??= sendAll();
  }

  /** Sends one statement at a time. Topics announced during it go with the next. */
  async function sendAll(): Promise<void> {
    while (unsent.size > 0) {
      const payloads = [...unsent].map(topic => `${sender} ${topic}`);
      unsent.clear();
      // The server commits transactions with NOTIFY one at a time. Not waiting for the disk keeps them short; a lost
      // wake-up does no harm.
      const sql = `select set_config('synchronous_commit', 'off', true), pg_notify('${CHANNEL}', payload)
                   from unnest(?::text[]) as payload`;
      await knex.raw(sql, [payloads]).catch(logAndGoOn(log, 'announcing work to other processes'));
    }
    sending = undefined;
  }

  /** Listens until the connection is lost. @throws when it cannot listen */
  async function listen(stopping: AbortSignal): Promise<number> {
    const over = new AbortController();
    const signal = AbortSignal.any([stopping, over.signal]);
    const clients: pg.Client[] = [];
    const lost = Promise.withResolvers<never>();
    const greeted = Promise.withResolvers<void>();
    const onAbort = () => lost.reject(stopping.reason);
    const opening = connect(async config => {
      signal.throwIfAborted();
      const client = new pg.Client(config);
      clients.push(client);
      client.on('error', () => undefined);
      await client.connect();
      return client;
    }).catch(error => {
      throw new Unavailable('The database cannot be listened to now', error);
    });
    stopping.addEventListener('abort', onAbort, { once: true });
    try {
      const listening = await Promise.race([opening, lost.promise]);
      listening.on('error', lost.reject);
      listening.on('end', () => lost.reject(new Error('PostgreSQL ended the listening connection.')));
      listening.on('notification', ({ payload = '' }) => {
        const [from, topic = ''] = payload.split(' ');
        if (from !== sender) local.wake([topic]);
        else if (topic === HELLO) greeted.resolve();
      });
      await Promise.race([begin(listening, greeted.promise, signal), lost.promise]);
      isListening = true;
      // Earlier announcements were missed.
      local.wake(topics);
      await Promise.race([beat(listening, signal), lost.promise]).catch(error => {
        if (!stopping.aborted) log.warn({ err: error }, 'the listening connection was lost');
      });
    } finally {
      isListening = false;
      over.abort();
      stopping.removeEventListener('abort', onAbort);
      const ending = clients.map(client => client.end());
      await Promise.all(ending).catch(logAndGoOn(log, 'closing the listening connection'));
    }
    return 0;
  }

  /**
   * Starts to listen and checks that notifications arrive. The greeting goes through the pool: behind a pooler, a
   * connection may receive only its own announcements.
   */
  async function begin(client: pg.Client, greeted: Promise<void>, signal: AbortSignal): Promise<void> {
    await client.query(`listen ${CHANNEL}`);
    await knex.raw('select pg_notify(?, ?)', [CHANNEL, `${sender} ${HELLO}`]);
    const patience = new AbortController();
    const late = clock.sleep(HELLO_MS, AbortSignal.any([signal, patience.signal])).then(() => {
      throw new Error(
        'PostgreSQL delivers no notifications: behind a pooler, `listenUrl` must lead past it.',
      );
    });
    await Promise.race([greeted, late]).finally(() => patience.abort());
  }

  async function beat(client: pg.Client, signal: AbortSignal): Promise<never> {
    for (;;) {
      await clock.sleep(HEARTBEAT_MS, signal);
      await client.query('select 1');
    }
  }

  return {
    on(topic, listener) {
      topics.add(topic);
      const pauses = { pauseMs: PAUSE_MS, longestPauseMs: LONGEST_PAUSE_MS, clock, log };
      running ??= startWorker({ name: 'wake-ups from other processes', runOnce: listen }, pauses);
      return local.on(topic, listener);
    },
    announce(names) {
      const all = [...names];
      local.wake(all);
      if (!isClosed) send(all);
    },
    wake: local.wake,
    isListening: () => isListening,
    async close() {
      isClosed = true;
      await running?.stop();
      await sending;
    },
  };
}
