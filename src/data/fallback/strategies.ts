import type { Clock } from '../../lib/clock.ts';
import { asBackendError, BackendError } from '../backends/port/backend-error.ts';
import { type Chain, type ChainAnswer, type Failure, NothingFound } from './chain.ts';
import { isRefusal, leavesOpen } from './failure-table.ts';

export interface StrategyOptions<Body> {
  readonly chains: readonly Chain[];
  askChain(chain: Chain, signal: AbortSignal): Promise<ChainAnswer<Body>>;
  /** An answer that says "nothing here", such as an address's empty list: the next chain may have more. */
  isNothing(body: Body): boolean;
  /** How long a chain may think before the next one is asked too, in milliseconds. */
  readonly staggerMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** How an operation goes over the configured chains. */
export type Strategy = <Body>(options: StrategyOptions<Body>) => Promise<ChainAnswer<Body>>;

/** The first of the chains and no other: for a block number, which means another block on every chain. Decision 37. */
export const firstChain: Strategy = options =>
  firstFound({ ...options, chains: options.chains.slice(0, 1), isNothing: () => false });

/**
 * The most preferred chain that has an answer: a record for a look-up, any page for a feed or a statistic. Chains are
 * started one stagger apart, or at once when the one before has nothing, so that a slow chain costs a stagger and not
 * its timeout. An empty answer is used only when every chain has answered and none has more.
 */
export const firstFound: Strategy = async options => {
  const { chains, clock, staggerMs, isNothing } = options;
  const stop = new AbortController();
  const signal = chains.length > 1 ? AbortSignal.any([options.signal, stop.signal]) : options.signal;
  const outcomes = new Array<Outcome<Awaited<ReturnType<typeof options.askChain>>>>(chains.length);
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
      // Nothing is started behind the last one, so there is nothing to pause for.
      if (index === chains.length - 1) break;
      const pause = new AbortController();
      const waited = clock.sleep(staggerMs, AbortSignal.any([pause.signal, signal])).catch(() => undefined);
      let isOver = false;
      const turn = Promise.race([done, waited]).then(() => {
        isOver = true;
      });
      // A chain that was started before may answer during this one's pause.
      while (!isOver) {
        await Promise.race([turn, ...running]);
        const settled = decided(chains, outcomes);
        if (settled !== undefined) return settled;
      }
      pause.abort();
      // Whoever is behind a chain that calls the input bad is not asked.
      if (outcomes.some(one => one !== undefined && 'failures' in one && one.failures.some(isRefusal))) break;
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
};

type Outcome<F> = { found: F; nothing: boolean } | { failures: readonly Failure[] };

/**
 * The answer, as soon as one is there: the most preferred of those that arrived. Failures of chains before it are
 * what it passed over, and so are chains that were still thinking: another time they may be first. That the input is
 * bad counts only when no chain is left before it that may take it.
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
      const rejected = outcome.failures.find(isRefusal);
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
 * @throws NothingFound also while a chain is out: what it has nobody knows, so that nothing cannot be said.
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

/** Whether the failures leave a chain's answer open. "Not found" is its last word, whatever failed before. */
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
