import type { components } from '#generated/data-service/types.ts';
import { type Answer, repeat } from '#pages/browser/answer.ts';
import type { Problem } from '#pages/browser/problem.ts';
import { askChains, sharing } from './chains-request.ts';

type Chains = components['schemas']['Chains'];
type Chain = components['schemas']['ConfiguredChain'];

/** Pause between two requests for the state of the chains, while the page is visible. */
const RENEW_MS = 3_000;

/** Configured chains with their state, as last heard, and the problem of the last attempt. */
export interface ChainFeed {
  readonly answer: Answer<Chains> | undefined;
  readonly problem: Problem | undefined;
}

let current: ChainFeed = { answer: undefined, problem: undefined };
const listeners = new Set<() => void>();
let polling: ReturnType<typeof repeat<Chains>> | undefined;

/** The state of the chains that all parts of a page share. */
export function chainFeed(): ChainFeed {
  return current;
}

/** Calls the listener at each change of the state of the chains. Ends with the returned function. */
export function watchChains(listener: () => void): () => void {
  listeners.add(listener);
  polling ??= repeat(
    { ask: askChains, everyMs: RENEW_MS },
    {
      onAnswer: answer => tell({ answer: sharing(answer, current.answer), problem: undefined }),
      onProblem: problem => tell({ ...current, problem }),
    },
  );
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    polling?.stop();
    polling = undefined;
  };
}

/** Requests the chains again at once. */
export function renewChains(): void {
  polling?.renew();
}

function tell(next: ChainFeed): void {
  current = next;
  for (const listener of [...listeners]) listener();
}

/** Highest block number among the back ends of a chain; undefined while none is known. */
export function headOf({ backends }: Pick<Chain, 'backends'>): number | undefined {
  const heads = backends.flatMap(({ head }) => (head === null ? [] : [head]));
  return heads.length === 0 ? undefined : Math.max(...heads);
}
