import type { Answer, Backend, Validity } from '../backends/port/backend.ts';
import { asBackendError } from '../backends/port/backend-error.ts';
import type { Chain } from './chain.ts';
import { type ChainAnswer, type Failure, NothingFound } from './chain-answer.ts';
import { timedOut, unsupported, untilAborted } from './deadline.ts';

/** Asks one back end; undefined when it has no answer of this kind. */
export type AskBackend<Body> = (backend: Backend, signal: AbortSignal) => Promise<Answer<Body>> | undefined;

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
      if (error.kind === 'not_found' || error.kind === 'rejected' || signal.aborted) break;
    }
  }
  if (failures.length === 0) failures.push({ chain, backend: undefined, error: unsupported() });
  throw new NothingFound(failures);
}
