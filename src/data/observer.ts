import type { Metrics } from '../http/metrics.ts';
import type { Answer, Backend } from './port/backend.ts';
import { asBackendError } from './port/backend-error.ts';

/** Counts one call to a back end and hands its outcome through: `ok`, or the kind of the failure. */
export async function observed<Body>(
  metrics: Metrics,
  backend: Backend,
  call: Promise<Answer<Body>>,
): Promise<Answer<Body>> {
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
    throw error;
  }
}
