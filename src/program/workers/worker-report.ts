import { statusOf } from '#http/app/admin.ts';
import { checkOutcomes } from '#http/health.ts';
import type { Metrics } from '#http/metrics.ts';
import type { OperatorView } from '#http/server/admin-listener.ts';
import type { Logger } from '#lib/logger.ts';
import { tellParent } from './parent-channel.ts';
import { parentMessage, type Subject } from './worker-messages.ts';

/** Reports to the parent that the services are open, and answers its questions about this worker from now on. */
export function reportToParent(
  view: OperatorView,
  { metrics, log }: { metrics: Metrics; log: Logger },
): void {
  const answers: Readonly<Record<Subject, () => Promise<unknown>>> = {
    metrics: () => metrics.registry.getMetricsAsJSON(),
    checks: () => checkOutcomes(view.checks, { log: () => log }),
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
