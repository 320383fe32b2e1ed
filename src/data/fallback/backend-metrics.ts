import type { Metrics } from '../../http/metrics.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Backend } from '../backends/port/backend.ts';
import { asBackendError, BackendError } from '../backends/port/backend-error.ts';

/**
 * Counts one call to a back end and hands its outcome through: `ok`, or the kind of the failure. A failure that the
 * back end did not word itself is logged here, for clients only hear that it failed.
 */
export async function observed<Result>(
  { metrics, log }: { metrics: Metrics; log: Logger },
  backend: Backend,
  call: Promise<Result>,
): Promise<Result> {
  const startedAt = performance.now();
  const count = (outcome: string) =>
    metrics.backendCall({
      chain: String(backend.chainId),
      backend: backend.name,
      outcome,
      seconds: (performance.now() - startedAt) / 1000,
    });
  try {
    const answer = await call;
    count('ok');
    return answer;
  } catch (error) {
    count(asBackendError(error).kind);
    if (!(error instanceof BackendError)) {
      log.error({ err: error, chainId: backend.chainId, backend: backend.name }, 'a back end failed');
    }
    throw error;
  }
}
