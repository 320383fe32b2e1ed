import { type Answer, type Repetition, repeat } from '#pages/browser/answer.ts';
import type { Problem } from '#pages/browser/problem.ts';
import { askChains, type Chains, sharing } from './chains-request.ts';
import { connectLive } from './live-port.ts';
import { afterEvent, afterReset, type ReportedState } from './live-state.ts';
import type { ReportedEvent } from './messages.ts';

/** Pause between two requests for the state of the chains, while the page is visible and there is no stream. */
const RENEW_MS = 3_000;
/** Form of a watch (Decision 408). */
const WATCH = /^[1-9]\d{0,15}:(?:(?:address|token):0x[0-9a-f]{40}|transaction:0x[0-9a-f]{64})$/;
/** Time in which events are gathered: those of one block arrive together. */
const GATHER_MS = 50;

/** Configured chains with their state as last heard, the problem of the last attempt, and what the stream has said. */
export interface PageFeed extends Omit<ReportedState, 'chains'> {
  readonly answer: Answer<Chains> | undefined;
  readonly problem: Problem | undefined;
  /** Watches that the stream reports; undefined while there is no stream, so that pages poll. */
  readonly streamed: readonly string[] | undefined;
}

let current: PageFeed = {
  answer: undefined,
  problem: undefined,
  streamed: undefined,
  resets: new Map(),
  reorganisations: new Map(),
  activity: new Map(),
};
const listeners = new Set<() => void>();
/** Parts of the page by what they watch. */
const watched = new Map<string, number>();
let chainIds: readonly number[] | undefined;
let polling: Repetition | undefined;
let live: ReturnType<typeof connectLive> | 'none' | undefined;
let gathered: ReportedEvent[] = [];

/** The state of the chains that all parts of a page share. */
export function pageFeed(): PageFeed {
  return current;
}

/** Calls the listener at each change of the state of the chains. Ends with the returned function. */
export function watchChains(listener: () => void): () => void {
  listeners.add(listener);
  polling ??= startPolling();
  return () => {
    listeners.delete(listener);
  };
}

/** Limits what the page hears to one chain. */
export function showChain(chainId: number): void {
  chainIds = [chainId];
}

/**
 * Has the activity of an address, token or transaction reported, until the returned function is called. A malformed one
 * is left out, because the server would refuse the stream of all tabs.
 */
export function watchActivity(watch: string): () => void {
  if (!WATCH.test(watch)) return () => {};
  const add = (number: number) => {
    const count = (watched.get(watch) ?? 0) + number;
    if (count > 0) watched.set(watch, count);
    else watched.delete(watch);
    tellInterest();
  };
  add(1);
  return () => add(-1);
}

/** Requests the chains again at once. */
export function renewChains(): void {
  polling?.renew();
}

/** Asks once, and again and again while there is no stream. */
function startPolling(): Repetition {
  return repeat(
    { ask: askChains, renewal: () => ({ everyMs: current.streamed === undefined ? RENEW_MS : undefined }) },
    {
      onAnswer(answer) {
        tell({ ...current, answer: sharing(answer, current.answer), problem: undefined });
        connect();
      },
      onProblem: problem => tell({ ...current, problem }),
    },
  );
}

/** Joins the stream once the chains are known, whose state its events change. */
function connect(): void {
  if (live !== undefined) return;
  live =
    connectLive({
      onEvent(event) {
        if (gathered.length === 0) setTimeout(applyGathered, GATHER_MS);
        gathered.push(event);
      },
      onStream(streamed) {
        tell({ ...current, streamed });
        if (streamed === undefined) polling?.renew();
        else polling?.reschedule();
      },
      onReturn: resetAll,
    }) ?? 'none';
  tellInterest();
}

function tellInterest(): void {
  if (typeof live === 'function') live({ chainIds, watches: [...watched.keys()] });
}

function applyGathered(): void {
  const events = gathered;
  gathered = [];
  const { answer } = current;
  if (answer === undefined) return;
  const before: ReportedState = { ...current, chains: answer.data.chains };
  const { chains, ...after } = events.reduce((state, event) => afterEvent(state, event, Date.now()), before);
  tell({
    ...current,
    ...after,
    answer: { ...answer, data: { chains: [...chains] }, at: Date.now() },
    problem: undefined,
  });
  // What a back end can do is known once it is ready.
  if (readinessOf(chains) !== readinessOf(before.chains)) renewChains();
}

function readinessOf(chains: ReportedState['chains']): string {
  return JSON.stringify(chains.map(({ backends }) => backends.map(({ ready }) => ready)));
}

function resetAll(): void {
  const { answer } = current;
  const chains = answer?.data.chains ?? [];
  const { resets } = chains.reduce<ReportedState>((state, { id }) => afterReset(state, id), {
    ...current,
    chains,
  });
  tell({ ...current, resets });
  renewChains();
}

function tell(next: PageFeed): void {
  current = next;
  for (const listener of [...listeners]) listener();
}
