import { html } from 'htm/preact';
import { type ComponentChildren, createContext, Fragment, type VNode } from 'preact';
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import { Moment } from './moment.ts';
import { asProblem, boxText, isTemporary, Problem, pauseAfter, problemOf } from './problem.ts';

const NOT_FOUND = 404;
const NOT_IMPLEMENTED = 501;

/** Result of `openapi-fetch`. */
export interface Reply<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** Response data with its headers, which name its source. */
export interface Answer<Data> {
  readonly data: Data;
  readonly headers: Headers;
  /** Time of arrival in UTC milliseconds. */
  readonly at: number;
}

/** Returns the data of a reply. @throws Problem for an error, or when the server cannot be reached. */
export async function answerOf<Data>(asked: Promise<Reply<Data>>): Promise<Answer<Data>> {
  const { data, error, response } = await asked.catch(reason => {
    if (reason instanceof DOMException && reason.name === 'AbortError') throw reason;
    throw new Problem('The server could not be reached.');
  });
  if (response.ok && data !== undefined) return { data, headers: response.headers, at: Date.now() };
  throw problemOf(error, response);
}

/** State of a page's request. The last answer stays while the request is repeated. */
export interface Loading<Data> {
  readonly answer: Answer<Data> | undefined;
  readonly problem: Problem | undefined;
  /** True when the problem ended the repetition, so only `reload` or another version asks again. */
  readonly isOver: boolean;
  readonly reload: () => void;
}

/** Conditions under which a page repeats its request. */
export interface Renewal {
  /** Pause between a response and the next request, while the page is visible. */
  readonly everyMs?: number | undefined;
  /** Repeats the request when it changes, after the pending one completes. */
  readonly version?: unknown;
  /** Next step from the shown answer, such as a cursor. A change loads at once; the shown answer stays until then. */
  readonly step?: unknown;
  /** The record may still be created, so after 404 the request is repeated `MOST_MISSES` times. */
  readonly mayAppear?: boolean;
}

/**
 * Sends a request when the page is shown, when one of `inputs` changes, and as `renewal` says. A permanent refusal ends
 * the repetition; other failures lengthen the pauses. A temporary problem is retried even without `everyMs`.
 */
export function useAnswer<Data>(
  ask: (signal: AbortSignal) => Promise<Reply<Data>>,
  inputs: readonly unknown[] = [],
  { everyMs, version, step, mayAppear = false }: Renewal = {},
): Loading<Data> {
  const [state, setState] = useState<Omit<Loading<Data>, 'reload'>>({
    answer: undefined,
    problem: undefined,
    isOver: false,
  });
  const [round, setRound] = useState(0);
  const latest = useRef({ ask, everyMs, mayAppear });
  latest.current = { ask, everyMs, mayAppear };
  const seenVersion = useRef(version);
  const repetition = useRef<Repetition>(undefined);

  useEffect(() => setState({ answer: undefined, problem: undefined, isOver: false }), inputs);
  useEffect(() => {
    seenVersion.current = version;
    const repeated = repeat(
      { ask: signal => answerOf(latest.current.ask(signal)), renewal: () => latest.current },
      {
        onAnswer: answer => setState({ answer, problem: undefined, isOver: false }),
        onProblem: (problem, isOver) => setState(({ answer }) => ({ answer, problem, isOver })),
      },
    );
    repetition.current = repeated;
    return repeated.stop;
  }, [...inputs, step, round]);
  useEffect(() => repetition.current?.reschedule(), [everyMs]);
  useEffect(() => {
    if (seenVersion.current === version) return;
    seenVersion.current = version;
    repetition.current?.renew();
  }, [version]);

  return { ...state, reload: useCallback(() => setRound(number => number + 1), []) };
}

interface Repeated<Data> {
  readonly ask: (signal: AbortSignal) => Promise<Answer<Data>>;
  /** Read before each pause. */
  readonly renewal: () => Pick<Renewal, 'everyMs' | 'mayAppear'>;
}

/** Request that is repeated until it is stopped. */
export interface Repetition {
  readonly renew: () => void;
  /** Begins the pause again, after `everyMs` has changed. */
  readonly reschedule: () => void;
  readonly stop: () => void;
}

interface Listener<Data> {
  readonly onAnswer: (answer: Answer<Data>) => void;
  readonly onProblem: (problem: Problem, isOver: boolean) => void;
}

/** Sends a request now, after each pause, and on `renew`, one at a time until stopped. */
export function repeat<Data>(
  { ask, renewal }: Repeated<Data>,
  { onAnswer, onProblem }: Listener<Data>,
): Repetition {
  const leaving = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsking = false;
  let isDue = false;
  let failures = 0;
  let isMissing = false;
  /** Something changed while the page was hidden. */
  let isLate = false;

  const wait = (ms: number) => {
    timer = setTimeout(() => (document.hidden ? wait(ms) : run()), ms);
  };
  // After a failure its own pause applies, even when the chain advances.
  const isRenewable = () => failures === 0 || isMissing;
  const once = async (): Promise<number | undefined> => {
    try {
      const answer = await ask(leaving.signal);
      failures = 0;
      if (!leaving.signal.aborted) onAnswer(answer);
      return renewal().everyMs;
    } catch (reason) {
      const problem = asProblem(reason);
      failures += 1;
      const { everyMs, mayAppear = false } = renewal();
      isMissing = mayAppear && problem.status === NOT_FOUND;
      const pauseMs = pauseAfter(problem, { everyMs, isMissing, failures });
      if (!leaving.signal.aborted) onProblem(problem, pauseMs === undefined);
      return pauseMs;
    }
  };
  const run = async () => {
    clearTimeout(timer);
    isDue = isAsking;
    if (isAsking) return;
    isAsking = true;
    const pauseMs = await once();
    isAsking = false;
    if (leaving.signal.aborted) return;
    if (isDue && isRenewable()) run();
    else if (pauseMs !== undefined) wait(pauseMs);
  };
  const seen = () => {
    if (document.hidden || !isLate) return;
    isLate = false;
    run();
  };
  document.addEventListener('visibilitychange', seen);
  run();
  return {
    renew: () => {
      if (!isRenewable()) return;
      if (document.hidden) isLate = true;
      else run();
    },
    reschedule: () => {
      const { everyMs } = renewal();
      if (isAsking || failures > 0) return;
      clearTimeout(timer);
      if (everyMs !== undefined) wait(everyMs);
    },
    stop: () => {
      leaving.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', seen);
    },
  };
}

/** True while the frame of a page says that the server does not answer, so that its parts do not repeat it. */
export const OutageNotice = createContext(false);

/**
 * Shows the children for an answer, a placeholder before it, or the problem without one. An answer that could not be
 * renewed stays, below a note.
 */
export function Awaited<Data>({
  loading,
  skeleton,
  children,
}: {
  loading: Loading<Data>;
  /** Empty elements as high as the answer will be, so that what is below does not move when it arrives. */
  skeleton?: ComponentChildren;
  children: (data: Data, headers: Headers) => ComponentChildren;
}): VNode {
  const { answer, problem, reload } = loading;
  const isKnown = useContext(OutageNotice) && problem !== undefined && isTemporary(problem);
  if (answer !== undefined) {
    return h(Fragment, {
      children: html`
        ${problem !== undefined && !isKnown && h(NotRenewed, { problem, since: answer.at, retry: reload })}
        ${children(answer.data, answer.headers)}
      `,
    });
  }
  if (problem !== undefined && !isKnown) {
    return isTemporary(problem) && problem.status !== undefined
      ? h(Delay, { problem })
      : h(ProblemNotice, { problem, retry: reload });
  }
  return h(Placeholder, { children: skeleton });
}

/** Placeholder for an answer: a word, or the children, which only keep its place. */
export function Placeholder({ children }: { children?: ComponentChildren }): VNode {
  if (children === undefined) return html`<p class="loading" role="status">Loading…</p>`;
  return html`<div class="loading skeleton">
    <span class="visually-hidden" role="status">Loading…</span>
    <div aria-hidden="true">${children}</div>
  </div>`;
}

/** Note above an outdated answer. */
function NotRenewed({
  problem,
  since,
  retry,
}: {
  problem: Problem;
  since: number;
  retry: () => void;
}): VNode {
  return html`<div class="notice warning row small">
    <span role="status">Not renewed since ${h(Moment, { at: since })}.</span>
    <span>${problem.status === undefined && problem.message}${h(ProblemFacts, { problem })}</span>
    <button type="button" onClick=${retry}>Try again</button>
  </div>`;
}

/** Tells that the server asks to wait, as while it starts. The request is repeated. */
export function Delay({ problem }: { problem: Problem }): VNode {
  return html`<div class="notice row" role="status">
    <progress aria-hidden="true"></progress>
    <span>${problem.message.replace(/\.?$/, '.')} This page continues by itself.</span>
  </div>`;
}

/** Shows the available status, code and request id of a problem. */
function ProblemFacts({ problem: { status, code, requestId } }: { problem: Problem }): VNode {
  const facts = [status, code].filter(fact => fact !== undefined).join(' · ');
  return h(Fragment, {
    children: html`
      ${facts}${requestId !== undefined && html` · request <code>${requestId}</code>`}
    `,
  });
}

/** Shows an error with its code and request id, and a retry button where useful. */
export function ProblemNotice({
  problem,
  isMarked = false,
  retry,
}: {
  problem: Problem;
  /** True when a field of the form shows the reason. */
  isMarked?: boolean;
  retry?: (() => void) | undefined;
}): VNode {
  const { status } = problem;
  if (status === NOT_IMPLEMENTED)
    return h(Empty, { children: 'None of this chain’s back ends offers this.' });
  return html`<div class="notice bad" role="alert">
    <p>${boxText(problem, isMarked)}</p>
    <p class="small">${h(ProblemFacts, { problem })}</p>
    ${retry !== undefined && status !== NOT_FOUND && html`<button type="button" onClick=${retry}>Try again</button>`}
  </div>`;
}

/** Placeholder for an empty list, with the next step for the user. */
export function Empty({ children }: { children: ComponentChildren }): VNode {
  return html`<div class="empty">${children}</div>`;
}
