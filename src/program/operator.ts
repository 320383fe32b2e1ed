import type { Config } from '#config/config.ts';
import type { WorkerPart } from '#config/environment.ts';
import type { Metrics } from '#http/metrics.ts';
import { type OperatorView, openAdminListener } from '#http/server/admin-listener.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { RequestCounters } from '#lib/request-counters.ts';
import { parentLeave, parentStop, tellParent } from './workers/parent-channel.ts';

/** Operator's side of this process: the admin listener and the log, or the parent process of a worker. */
export interface Operator {
  /** Publishes checks and status of the services once they are open. */
  show(view: OperatorView): Promise<void>;
  /** Reports that the process is ready. */
  tell(words: string, fields: object): void;
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
    tell: (words, fields) => observers.log.info(fields, words),
    stopped: new Promise<never>(() => {}),
    left: new Promise<never>(() => {}),
    counters: undefined,
  };
}

async function parentOf(
  { roles }: WorkerPart,
  { observers }: Pick<OperatorDeps, 'observers'>,
): Promise<Operator> {
  const { reportToParent } = await import('./workers/worker-report.ts');
  const { workerCounters } = await import('#stores/worker-counters.ts');
  const isServing = roles.includes('data') || roles.includes('payments');
  return {
    async show(view) {
      reportToParent(view, observers);
      // Ready as soon as it is open: its work begins after the end of its predecessor, which waits for this message.
      if (!isServing) tellParent({ tollgate: 'ready', words: 'ready', fields: {} });
    },
    tell(words, fields) {
      if (isServing) tellParent({ tollgate: 'ready', words, fields });
    },
    stopped: parentStop(),
    left: parentLeave(),
    counters: isServing ? workerCounters(observers) : undefined,
  };
}
