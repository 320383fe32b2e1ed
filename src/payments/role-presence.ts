import { ROLES_OF, type Role } from '../config/config.ts';
import { readServerTime } from '../db/database-clock.ts';
import type { Db } from '../db/open.ts';
import { startWokenWorker } from '../db/woken-worker.ts';
import { newId } from '../lib/ids.ts';
import { inTime } from '../lib/in-time.ts';
import { type ClockAndLog, logAndGoOn } from '../lib/logger.ts';
import { PRESENCE_TOPIC, type PresentTask, presenceStore, settlementOf } from './store/presence-store.ts';

/** One part of the payments platform. */
export type PaymentsRole = (typeof ROLES_OF)['payments'][number];

/** All parts of the payments platform. */
export const PAYMENTS_ROLES: readonly PaymentsRole[] = ROLES_OF.payments satisfies readonly Role[];

/** Time that a silent process still counts as live. It is shorter than the lease of a watcher. */
const PRESENT_MS = 15_000;
const EXTEND_EVERY_MS = 5_000;
/** Minimum age of a process before others hand chains over to it, so that a process that keeps crashing gets none. */
const PROBATION_MS = 20_000;
/** Retention of a silent process's row. Long, because to a process whose clock is ahead, live ones look silent. */
const KEPT_MS = 10 * 60_000;
/** Longest wait for the database at the end. Without an answer, the row of the process expires by itself. */
const LEAVE_WITHIN_MS = 1_000;
const CONSEQUENCES: Readonly<Record<PaymentsRole, string>> = {
  payments: 'no process has the role payments: links and pay pages cannot be opened',
  settlement: 'no process has the role settlement: payments are not detected, and sessions do not end',
  delivery: 'no process has the role delivery: events are kept but not sent',
};

/** Live processes of the payments database, as this one last read them. */
export interface RolePresence {
  /** Live processes of a role, this one included. */
  count(role: PaymentsRole): number;
  /** Ids of the other processes that watch a chain and have lived long enough to lead it. */
  othersOfChain(chainId: number): readonly string[];
  /** Live processes of every role. */
  counts(): Readonly<Record<PaymentsRole, number>>;
  /** A sentence for each role without a live process. Roles that are missing only briefly are left out. */
  warnings(): readonly string[];
  /** True while the other processes see this one as live. */
  isKnown(): boolean;
  /** Removes this process from the database and notifies the others. Resolves within a second. */
  leave(): Promise<void>;
}

interface PresenceOptions extends ClockAndLog {
  readonly db: Db;
  readonly roles: readonly PaymentsRole[];
  /** Chains that this process watches if it has the role settlement. */
  readonly chainIds: readonly number[];
  /** Called when the processes that share a chain have changed. */
  readonly onChange: () => void;
}

/** Announces this process with its roles (Decision 259) and reads the others. Resolves after both. */
export async function startPresence({
  db,
  roles,
  chainIds,
  onChange,
  clock,
  log,
}: PresenceOptions): Promise<RolePresence> {
  const processId = newId('proc');
  const store = presenceStore(db);
  const settled = roles.includes('settlement') ? chainIds.map(settlementOf) : [];
  const tasks = [...roles, ...settled];
  const missingSince = new Map<PaymentsRole, number>();
  const warned = new Set<PaymentsRole>();
  let counts: ReadonlyMap<string, number> = new Map();
  /** Time at which this process first saw each live one. */
  let seenSince: ReadonlyMap<string, number> = new Map();
  /** Other processes that watch a chain, by the task name of its settlement. */
  let others: ReadonlyMap<string, readonly string[]> = new Map();
  let extendedAt = clock.now();
  let left: Promise<void> | undefined;

  async function look(): Promise<void> {
    await readServerTime(db, db);
    const now = clock.now();
    await store.extend(processId, tasks, now + PRESENT_MS);
    extendedAt = now;
    const live = await store.live(now, PRESENT_MS);
    counts = countsOf(live);
    seenSince = new Map(live.map(({ processId: id }) => [id, seenSince.get(id) ?? now]));
    const before = others;
    others = new Map(settled.map(name => [name, othersOf(name, live, now)]));
    if (settled.some(name => before.get(name)?.join() !== others.get(name)?.join())) onChange();
    for (const role of PAYMENTS_ROLES) warn(role, now);
  }

  function othersOf(name: string, live: readonly PresentTask[], now: number): readonly string[] {
    const isProven = (id: string) => Math.abs(now - (seenSince.get(id) ?? now)) >= PROBATION_MS;
    return live
      .filter(({ task, processId: id }) => task === name && id !== processId && isProven(id))
      .map(({ processId: id }) => id)
      .toSorted();
  }

  /** Warns once per absence. Waits `PRESENT_MS` first, because a process may be starting or restarting. */
  function warn(role: PaymentsRole, now: number): void {
    if (count(role) > 0) {
      missingSince.delete(role);
      if (warned.delete(role)) log.info({ role }, 'a process has this role again');
      return;
    }
    if (!missingSince.has(role)) missingSince.set(role, now);
    if (isMissing(role) && !warned.has(role)) {
      warned.add(role);
      log.warn({ role }, CONSEQUENCES[role]);
    }
  }

  function isMissing(role: PaymentsRole): boolean {
    const since = missingSince.get(role);
    return since !== undefined && clock.now() - since >= PRESENT_MS;
  }

  const count = (role: PaymentsRole) => counts.get(role) ?? 0;

  await store.removeExpired(clock.now() - KEPT_MS);
  const firstLook = Promise.withResolvers<void>();
  const running = startWokenWorker(
    {
      name: 'presence of this process',
      async runOnce() {
        const looking = look();
        looking.then(firstLook.resolve, firstLook.reject);
        await looking;
        return 0;
      },
    },
    {
      db,
      topic: PRESENCE_TOPIC,
      pauseMs: EXTEND_EVERY_MS,
      longestPauseMs: EXTEND_EVERY_MS,
      clock,
      log,
    },
  );
  await firstLook.promise.catch(async error => {
    await running.stop();
    throw error;
  });
  store.announce();
  return {
    count,
    othersOfChain: chainId => others.get(settlementOf(chainId)) ?? [],
    counts: () => ({
      payments: count('payments'),
      settlement: count('settlement'),
      delivery: count('delivery'),
    }),
    warnings: () => PAYMENTS_ROLES.filter(isMissing).map(role => CONSEQUENCES[role]),
    isKnown: () => Math.abs(clock.now() - extendedAt) < PRESENT_MS,
    leave() {
      left ??= inTime(leave(), LEAVE_WITHIN_MS).catch(logAndGoOn(log, 'announcing the end of this process'));
      return left;
    },
  };

  async function leave(): Promise<void> {
    await running.stop();
    await store.remove(processId);
  }
}

function countsOf(live: readonly PresentTask[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { task } of live) counts.set(task, (counts.get(task) ?? 0) + 1);
  return counts;
}
