import type { Metrics } from '../../http/metrics.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Answer, Backend, Validity } from '../backends/port/backend.ts';
import { asBackendError, BackendError } from '../backends/port/backend-error.ts';
import { type Chain, type ChainAnswer, type Failure, NothingFound } from './chain.ts';
import { isLastWord } from './failure-table.ts';

/** Asks one back end. Returns undefined when it does not serve this operation. */
type AskBackend<Body> = (backend: Backend, signal: AbortSignal) => Promise<Answer<Body>> | undefined;

/**
 * Removes the finality of an answer when the back end's state changed during the request: the answer may mix both
 * states.
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
 * Asks the back ends of one chain in order. The next one is asked when one is unavailable or does not serve the
 * operation; `not_found` and `rejected` are final for the chain. Each back end has its own `timeoutMs`, so that one
 * that hangs leaves time for the next; `signal` aborts the whole.
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

/**
 * Settles like `pending`, or rejects as soon as the signal aborts. A back end that ignores the signal must not block a
 * load.
 */
export function untilAborted<Value>(pending: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  pending.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  return promise;
}

/** Failure of a back end that does not serve the operation. */
export function unsupported(): BackendError {
  return new BackendError('unsupported', 'no_such_answer', 'the back end has no such answer');
}

/** Failure of a back end whose deadline has passed. */
export function timedOut(cause: unknown): BackendError {
  return new BackendError('unavailable', 'timeout', 'the back end did not answer in time', { cause });
}

/**
 * Counts one call to a back end by its outcome, `ok` or the kind of the failure, and passes the outcome on. Unexpected
 * errors are logged here, because clients hear only that the back end failed. After an abort no client waits for the
 * outcome, and the database may be closed.
 */
export async function observed<Result>(
  { metrics, log, signal }: { metrics: Metrics; log: Logger; signal: AbortSignal },
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
    if (!(error instanceof BackendError) && !signal.aborted) {
      log.error({ err: error, chainId: backend.chainId, backend: backend.name }, 'a back end failed');
    }
    throw error;
  }
}
