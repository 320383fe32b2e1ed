import { BackendError } from '../backends/port/backend-error.ts';

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
