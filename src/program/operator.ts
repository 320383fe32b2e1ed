import type { Config } from '#config/config.ts';
import type { WorkerPart } from '#config/environment.ts';
import type { Metrics } from '#http/metrics.ts';
import { type OperatorView, openAdminListener } from '#http/server/admin-listener.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { RequestCounters } from '#lib/request-counters.ts';
import { parentStop, tellParent } from './workers/parent-channel.ts';

/** Who looks after this process: the operator, or the parent of a worker on the operator's behalf. */
export interface Operator {
  /** Shows the services once they are open. */
  show(view: OperatorView): Promise<void>;
  /** Says that the process is ready. */
  tell(words: string, fields: object): void;
  /** Resolves when a parent tells the worker to stop; never without one. */
  readonly stopped: Promise<string>;
  /** Counters that the workers of one address share; undefined without a parent. */
  readonly counters: RequestCounters | undefined;
}

interface OperatorDeps {
  readonly worker: WorkerPart | undefined;
  readonly observers: { readonly metrics: Metrics; readonly clock: Clock; readonly log: Logger };
  readonly resources: AsyncDisposableStack;
}

/** The operator of this process. */
export async function operatorOf(
  config: Config,
  { worker, observers, resources }: OperatorDeps,
): Promise<Operator> {
  if (worker !== undefined) return parentOf(worker, { observers });
  return {
    async show(view) {
      const admin = await openAdminListener(config.admin.listen, { view, ...observers });
      resources.defer(() => admin.close());
    },
    tell: (words, fields) => observers.log.info(fields, words),
    stopped: new Promise<never>(() => {}),
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
      // It stands by until its predecessor ends, and would wait for that to be ready.
      if (!isServing) tellParent({ tollgate: 'ready', words: 'ready', fields: {} });
    },
    tell(words, fields) {
      if (isServing) tellParent({ tollgate: 'ready', words, fields });
    },
    stopped: parentStop(),
    counters: isServing ? workerCounters(observers) : undefined,
  };
}
