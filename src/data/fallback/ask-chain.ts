import type { Metrics } from '../../http/metrics.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Answer, Backend, Validity } from '../backends/port/backend.ts';
import { asBackendError, BackendError } from '../backends/port/backend-error.ts';
import { type Chain, type ChainAnswer, type Failure, NothingFound } from './chain.ts';
import { isLastWord } from './failure-table.ts';

/** Asks one back end; undefined when it has no answer of this kind. */
type AskBackend<Body> = (backend: Backend, signal: AbortSignal) => Promise<Answer<Body>> | undefined;

/**
 * An answer during which the back end moved on may be half of one state and half of another: nothing in it is settled.
 */
function unlessMoved<Body>(
  answer: Answer<Body>,
  before: Validity | undefined,
  backend: Backend,
): Answer<Body> {
  if (before === undefined || backend.validity?.().revision === before.revision) return answer;
  return answer.unsettled === true ? answer : { body: answer.body };
}

/**
 * Asks one chain, back end by back end. The next one is asked when this one is unavailable or has no such answer;
 * `not_found` and `rejected` are the chain's last word. Each back end has `timeoutMs` of its own, so that one that hangs
 * leaves time for those behind it; `signal` ends the whole.
 * @throws NothingFound with the failures of every back end that was asked.
 */
export async function askChain<Body>(
  chain: Chain,
  ask: AskBackend<Body>,
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
): Promise<ChainAnswer<Body>> {
  const failures: Failure[] = [];
  for (const backend of chain.backends) {
    const until = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      signal.throwIfAborted();
      const validity = backend.validity?.();
      const pending = ask(backend, until);
      if (pending !== undefined) {
        return {
          answer: unlessMoved(await untilAborted(pending, until), validity, backend),
          chain,
          backend,
          validity,
          passedOver: failures,
        };
      }
      failures.push({ chain, backend, error: unsupported() });
    } catch (cause) {
      const error = until.aborted ? timedOut(cause) : asBackendError(cause);
      failures.push({ chain, backend, error });
      if (isLastWord(error) || signal.aborted) break;
    }
  }
  if (failures.length === 0) failures.push({ chain, backend: undefined, error: unsupported() });
  throw new NothingFound(failures);
}

/** The outcome, or the signal's reason as soon as it aborts: a back end that does not listen must not hold a load. */
export function untilAborted<Value>(pending: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  pending.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  return promise;
}

/** What a back end without this answer counts as having thrown. */
export function unsupported(): BackendError {
  return new BackendError('unsupported', 'no_such_answer', 'the back end has no such answer');
}

/** What a back end counts as having thrown when its deadline has passed. */
export function timedOut(cause: unknown): BackendError {
  return new BackendError('unavailable', 'timeout', 'the back end did not answer in time', { cause });
}

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
