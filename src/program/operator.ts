import type { Config, Role } from '../config/config.ts';
import type { WorkerPart } from '../config/environment.ts';
import { statusOf } from '../http/app/admin.ts';
import { checkOutcomes } from '../http/health.ts';
import type { Metrics } from '../http/metrics.ts';
import { type OperatorView, openAdminListener } from '../http/server/admin-listener.ts';
import type { Clock } from '../lib/clock.ts';
import { type Announcement, announceNews, type Logger } from '../lib/logger.ts';
import type { RequestCounters } from '../lib/request-counters.ts';
import {
  parentLeave,
  parentMessage,
  parentStop,
  type Subject,
  tellParent,
} from './workers/parent-channel.ts';

/** Operator's side of this process: the admin listener and the log, or the parent process of a worker. */
export interface Operator {
  /** Publishes checks and status of the services once they are open. */
  show(view: OperatorView): Promise<void>;
  /** Reports that the process is ready. */
  tell(announcement: Announcement): void;
  /** Resolves when the parent stops this worker; never resolves without a parent. */
  readonly stopped: Promise<string>;
  /** Resolves when the parent is about to stop this worker; never resolves without a parent. */
  readonly left: Promise<void>;
  /** Request counters shared by the workers of one address; undefined without a parent. */
  readonly counters: RequestCounters | undefined;
}

interface OperatorDeps {
  readonly worker: WorkerPart | undefined;
  readonly observers: { readonly metrics: Metrics; readonly clock: Clock; readonly log: Logger };
  /** Readiness of this process before it stops. */
  readonly leaving: { readonly isLeaving: () => boolean };
  readonly resources: AsyncDisposableStack;
}

/** The operator of this process. */
export async function operatorOf(
  config: Config,
  { worker, observers, leaving, resources }: OperatorDeps,
): Promise<Operator> {
  if (worker !== undefined) return parentOf(worker, { observers });
  return {
    async show(view) {
      const admin = await openAdminListener(config.admin, { view, ...observers, ...leaving });
      resources.defer(() => admin.close());
    },
    tell: announcement => announceNews(observers.log, announcement),
    stopped: new Promise<never>(() => {}),
    left: new Promise<never>(() => {}),
    counters: undefined,
  };
}

async function parentOf(
  { roles }: WorkerPart,
  { observers }: Pick<OperatorDeps, 'observers'>,
): Promise<Operator> {
  const { workerCounters } = await import('#stores/insured-counters.ts');
  const isServing = roles.includes('data') || roles.includes('payments');
  return {
    async show(view) {
      reportToParent(view, observers);
      // Ready as soon as it is open: its work begins after the end of its predecessor, which waits for this message.
      if (!isServing) tellParent({ tollgate: 'ready', words: 'ready', fields: {}, lines: [] });
    },
    tell(announcement) {
      if (isServing) tellParent({ tollgate: 'ready', ...announcement });
    },
    stopped: parentStop(),
    left: parentLeave(),
    counters: isServing ? workerCounters(observers) : undefined,
  };
}

/** Roles that answer requests. Any number of workers can have them. */
const SERVING: readonly Role[] = ['data', 'payments'];

/**
 * Workers of a configuration: several that share the listeners, and a single one with all other roles.
 * Empty when one process does everything or when no role serves requests.
 */
export function workerParts({ workers, roles }: Pick<Config, 'workers' | 'roles'>): readonly WorkerPart[] {
  const serving = roles.filter(role => SERVING.includes(role));
  const others = roles.filter(role => !SERVING.includes(role));
  if (workers === 1 || serving.length === 0) return [];
  return [
    ...Array.from({ length: workers }, (_, index) => ({ name: `worker ${index + 1}`, roles: serving })),
    ...(others.length === 0 ? [] : [{ name: 'background', roles: others }]),
  ];
}

/** Reports to the parent that the services are open, and answers its questions about this worker from now on. */
function reportToParent(view: OperatorView, { metrics, log }: { metrics: Metrics; log: Logger }): void {
  const answers: Readonly<Record<Subject, () => Promise<unknown>>> = {
    metrics: () => metrics.registry.getMetricsAsJSON(),
    checks: () => checkOutcomes(view.checks, () => log),
    status: async () => (await statusOf(view.status, () => log)).states,
  };
  process.on('message', async received => {
    const message = parentMessage(received);
    if (message?.tollgate !== 'question') return;
    const { id, subject } = message;
    try {
      tellParent({ tollgate: 'answer', id, answer: await answers[subject]() });
    } catch (error) {
      log.warn({ err: error, subject }, 'cannot answer the parent');
    }
  });
  tellParent({ tollgate: 'opened' });
}
