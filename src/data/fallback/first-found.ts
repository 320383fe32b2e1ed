import type { Clock } from '../../lib/clock.ts';
import { asBackendError, BackendError } from '../backends/port/backend-error.ts';
import { type Chain, type ChainAnswer, type Failure, NothingFound } from './chain.ts';
import { endsRequest, leavesOpen } from './failure-table.ts';

interface FirstFoundOptions<Body> {
  /** Most preferred first. */
  readonly chains: readonly Chain[];
  askChain(chain: Chain, signal: AbortSignal): Promise<ChainAnswer<Body>>;
  /** True for an answer without content, such as an address's empty list. The next chain may have more. */
  isNothing(body: Body): boolean;
  /** Head start of a chain before the next one is asked too, in milliseconds. */
  readonly staggerMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Returns the answer of the most preferred chain that has one: a record for a look-up, any page for a feed or a
 * statistic. Chains start one stagger apart, or at once when the one before has nothing, so a slow chain costs a
 * stagger instead of its timeout. An empty answer is used only when every chain has answered and none has content.
 */
export async function firstFound<Body>(options: FirstFoundOptions<Body>): Promise<ChainAnswer<Body>> {
  const { chains, clock, staggerMs, isNothing } = options;
  const stop = new AbortController();
  const signal = chains.length > 1 ? AbortSignal.any([options.signal, stop.signal]) : options.signal;
  const outcomes = new Array<Outcome<ChainAnswer<Body>>>(chains.length);
  const running = new Set<Promise<void>>();
  try {
    for (const [index, chain] of chains.entries()) {
      const done = options.askChain(chain, signal).then(
        found => {
          outcomes[index] = { found, nothing: isNothing(found.answer.body) };
        },
        error => {
          outcomes[index] = { failures: failuresOf(error, chain) };
        },
      );
      running.add(done);
      void done.then(() => running.delete(done));
      // No chain follows the last one, so there is nothing to pause for.
      if (index === chains.length - 1) break;
      const waited = clock.sleep(staggerMs, signal).catch(() => undefined);
      let isOver = false;
      const turn = Promise.race([done, waited]).then(() => {
        isOver = true;
      });
      // An earlier chain may answer during this pause.
      while (!isOver) {
        await Promise.race([turn, ...running]);
        const settled = decided(chains, outcomes);
        if (settled !== undefined) return settled;
      }
      // Chains after one that rejects the input are not asked.
      if (outcomes.some(one => one !== undefined && 'failures' in one && one.failures.some(endsRequest)))
        break;
    }
    while (running.size > 0) {
      await Promise.race(running);
      const settled = decided(chains, outcomes);
      if (settled !== undefined) return settled;
    }
    return emptyAnswer(outcomes);
  } finally {
    if (chains.length > 1) stop.abort();
  }
}

type Outcome<F> = { found: F; nothing: boolean } | { failures: readonly Failure[] };

/**
 * The most preferred answer that has arrived, or undefined. Failures of chains before it count as passed over, and so
 * do pending chains: next time, one of them may answer first. Rejected input counts only when no more preferred chain
 * is pending.
 */
function decided<Body>(
  chains: readonly Chain[],
  outcomes: readonly (Outcome<ChainAnswer<Body>> | undefined)[],
): ChainAnswer<Body> | undefined {
  const passedOver: Failure[] = [];
  let isOneThinking = false;
  for (const [index, chain] of chains.entries()) {
    const outcome = outcomes[index];
    if (outcome === undefined) {
      isOneThinking = true;
      passedOver.push({ chain, backend: undefined, error: outrun() });
    } else if ('failures' in outcome) {
      const rejected = outcome.failures.find(endsRequest);
      if (rejected !== undefined && isOneThinking) return undefined;
      if (rejected !== undefined) throw new NothingFound([rejected]);
      passedOver.push(...outcome.failures);
    } else if (!outcome.nothing) {
      return { ...outcome.found, passedOver: [...passedOver, ...outcome.found.passedOver] };
    }
  }
  return undefined;
}

/**
 * The first chain's page without items.
 * @throws NothingFound also when a chain failed temporarily: its content is unknown, so "nothing" would be a guess.
 */
function emptyAnswer<Body>(outcomes: readonly (Outcome<ChainAnswer<Body>> | undefined)[]): ChainAnswer<Body> {
  const failures: Failure[] = [];
  let empty: ChainAnswer<Body> | undefined;
  let isOneOut = false;
  for (const outcome of outcomes) {
    if (outcome === undefined) continue;
    if ('failures' in outcome) {
      failures.push(...outcome.failures);
      isOneOut ||= isOut(outcome.failures);
    } else empty ??= outcome.found;
  }
  if (empty === undefined || isOneOut) throw new NothingFound(failures);
  return { ...empty, passedOver: [...failures, ...empty.passedOver] };
}

/** True when the failures leave a chain's answer open. "Not found" is final, regardless of earlier failures. */
function isOut(failures: readonly Failure[]): boolean {
  return failures.some(leavesOpen) && !failures.some(({ error }) => error.kind === 'not_found');
}

function outrun(): BackendError {
  return new BackendError('unavailable', 'timeout', 'another chain answered first');
}

function failuresOf(error: unknown, chain: Chain): readonly Failure[] {
  return error instanceof NothingFound
    ? error.failures
    : [{ chain, backend: undefined, error: asBackendError(error) }];
}
