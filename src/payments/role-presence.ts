import type { Role } from '../config/roles.ts';
import { ROLES_OF } from '../config/roles.ts';
import type { Db } from '../db/open.ts';
import { startWokenWorker } from '../db/woken-worker.ts';
import type { Clock } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import { type Logger, logAndGoOn } from '../lib/logger.ts';
import { PRESENCE_TOPIC, presenceStore, settlementOf } from './store/presence-store.ts';

/** One part of the payments platform. */
export type PaymentsRole = (typeof ROLES_OF)['payments'][number];

/** All parts of the payments platform. */
export const PAYMENTS_ROLES: readonly PaymentsRole[] = ROLES_OF.payments satisfies readonly Role[];

/** Time that a process counts as live after it fell silent. Shorter than the lease of a watcher, which waits for it. */
const PRESENT_MS = 15_000;
const EXTEND_EVERY_MS = 5_000;
/** Time that the row of a silent process is kept, because a clock that is ahead takes a live one for silent. */
const KEPT_MS = 10 * 60_000;
const CONSEQUENCES: Readonly<Record<PaymentsRole, string>> = {
  payments: 'no process has the role payments: links and pay pages cannot be opened',
  settlement: 'no process has the role settlement: payments are not seen, and sessions do not end',
  delivery: 'no process has the role delivery: events are kept and sent to nobody',
};

/** Live processes of the payments database, as this one last read them. */
export interface RolePresence {
  /** Live processes of a role, this one included. */
  count(role: PaymentsRole): number;
  /** Live processes that watch a chain, this one included. */
  countOfChain(chainId: number): number;
  /** Live processes of every role. */
  counts(): Readonly<Record<PaymentsRole, number>>;
  /** A sentence for each role that no live process has. A role that is missing for a moment only is not named. */
  warnings(): readonly string[];
  /** True while this process is known to the others. */
  isKnown(): boolean;
  /** Tells the others that this process ends. */
  leave(): Promise<void>;
}

interface PresenceOptions {
  readonly db: Db;
  readonly roles: readonly PaymentsRole[];
  /** Chains that this process watches if it has the role settlement. */
  readonly chainIds: readonly number[];
  /** Called when processes began or ended. */
  readonly onChange: () => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Announces this process and learns of the others. Resolves once both have happened. Decision 259. */
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
  let extendedAt = clock.now();

  async function look(): Promise<void> {
    const now = clock.now();
    await store.extend(processId, tasks, now + PRESENT_MS);
    extendedAt = now;
    const before = counts;
    counts = countsOf(await store.live(now));
    if ([...PAYMENTS_ROLES, ...settled].some(task => before.get(task) !== counts.get(task))) onChange();
    for (const role of PAYMENTS_ROLES) warn(role, now);
  }

  /** Once per absence. Others may be starting, or be restarted, so it waits for as long as a silent process counts. */
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
    countOfChain: chainId => counts.get(settlementOf(chainId)) ?? 0,
    counts: () => ({
      payments: count('payments'),
      settlement: count('settlement'),
      delivery: count('delivery'),
    }),
    warnings: () => PAYMENTS_ROLES.filter(isMissing).map(role => CONSEQUENCES[role]),
    isKnown: () => Math.abs(clock.now() - extendedAt) < PRESENT_MS,
    async leave() {
      await running.stop();
      await store.remove(processId).catch(logAndGoOn(log, 'taking leave of the other processes'));
    },
  };
}

function countsOf(tasks: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const task of tasks) counts.set(task, (counts.get(task) ?? 0) + 1);
  return counts;
}
