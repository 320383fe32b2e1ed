import { html } from 'htm/preact';
import { type ComponentChildren, Fragment, type VNode } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Moment } from './moment.ts';

const NOT_FOUND = 404;
const NOT_IMPLEMENTED = 501;
/** Refusals that the same request gets again. */
const LASTING: readonly (number | undefined)[] = [400, 401, 403, NOT_FOUND, NOT_IMPLEMENTED];
const LONGEST_PAUSE_MS = 60_000;

/** A refused or failed request, as the API tells it. `code` is absent from services that name none. */
export class Problem extends Error {
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  /** The field that was refused, as the API names it: `items.0.amount`. */
  readonly param: string | undefined;
  /** How long the server asks to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    facts: Partial<Pick<Problem, 'status' | 'code' | 'requestId' | 'param' | 'retryAfterMs'>> = {},
  ) {
    super(message);
    this.status = facts.status;
    this.code = facts.code;
    this.requestId = facts.requestId;
    this.param = facts.param;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** What `openapi-fetch` resolves to. */
export interface Reply<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** An answer and the headers that tell where it is from. */
export interface Answer<Data> {
  readonly data: Data;
  readonly headers: Headers;
  /** When it came, in UTC milliseconds. */
  readonly at: number;
}

/** The data of a reply. @throws Problem for an error or when the server is out of reach. */
export async function answerOf<Data>(asked: Promise<Reply<Data>>): Promise<Answer<Data>> {
  const { data, error, response } = await asked.catch(reason => {
    if (reason instanceof DOMException && reason.name === 'AbortError') throw reason;
    throw new Problem('The server could not be reached.');
  });
  if (response.ok && data !== undefined) return { data, headers: response.headers, at: Date.now() };
  throw problemOf(error, response);
}

/** What was thrown, as a page shows it. */
export function asProblem(reason: unknown): Problem {
  return reason instanceof Problem ? reason : new Problem(String(reason));
}

/** Reads the bodies of all families: `{ message }`, `{ error: message }` and `{ error: { code, message } }`. */
function problemOf(body: unknown, response: Response): Problem {
  const { error = body } = textsIn(body);
  const told = typeof error === 'string' ? { message: error } : textsIn(error);
  const message = typeof told.message === 'string' ? told.message : `The server answered ${response.status}.`;
  return new Problem(message, {
    status: response.status,
    code: typeof told.code === 'string' ? told.code : undefined,
    requestId: response.headers.get('X-Request-Id') ?? undefined,
    param: typeof told.param === 'string' ? told.param : undefined,
    retryAfterMs: retryAfterOf(response.headers),
  });
}

function retryAfterOf(headers: Headers): number | undefined {
  const seconds = Number(headers.get('Retry-After') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

function textsIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** State of a request of a page. The last answer stays while the request is repeated. */
export interface Loading<Data> {
  readonly answer: Answer<Data> | undefined;
  readonly problem: Problem | undefined;
  readonly reload: () => void;
}

/** When a page asks again by itself. */
export interface Renewal {
  /** Pause between an answer and the next request, while the page is visible. */
  readonly everyMs?: number | undefined;
  /** Asks again when it changes, once the request under way is answered. */
  readonly version?: unknown;
  /** What follows on the shown answer, such as a cursor: it is asked for at once, and the answer stays until then. */
  readonly step?: unknown;
  /** The record may come into being: 404 does not end the repeating. */
  readonly mayAppear?: boolean;
}

/**
 * Asks when the page is shown, whenever one of `inputs` changes, and as `renewal` says. A refusal that lasts ends the
 * repeating; other failures make the pauses longer.
 */
export function useAnswer<Data>(
  ask: (signal: AbortSignal) => Promise<Reply<Data>>,
  inputs: readonly unknown[],
  { everyMs, version, step, mayAppear = false }: Renewal = {},
): Loading<Data> {
  const [state, setState] = useState<Omit<Loading<Data>, 'reload'>>({
    answer: undefined,
    problem: undefined,
  });
  const [round, setRound] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;
  const seenVersion = useRef(version);
  const renew = useRef(() => {});

  useEffect(() => setState({ answer: undefined, problem: undefined }), inputs);
  useEffect(() => {
    seenVersion.current = version;
    const repeated = repeat(
      { ask: signal => answerOf(latest.current(signal)), everyMs, mayAppear },
      {
        onAnswer: answer => setState({ answer, problem: undefined }),
        onProblem: problem => setState(({ answer }) => ({ answer, problem })),
      },
    );
    renew.current = repeated.renew;
    return repeated.stop;
  }, [...inputs, step, round, everyMs]);
  useEffect(() => {
    if (seenVersion.current === version) return;
    seenVersion.current = version;
    renew.current();
  }, [version]);

  return { ...state, reload: useCallback(() => setRound(number => number + 1), []) };
}

interface Repetition<Data> {
  readonly ask: (signal: AbortSignal) => Promise<Answer<Data>>;
  readonly everyMs: number | undefined;
  readonly mayAppear: boolean;
}

interface Listener<Data> {
  readonly onAnswer: (answer: Answer<Data>) => void;
  readonly onProblem: (problem: Problem) => void;
}

/** Asks now, again after each pause, and when it is told to `renew`: one request at a time, until it is stopped. */
function repeat<Data>(
  { ask, everyMs, mayAppear }: Repetition<Data>,
  { onAnswer, onProblem }: Listener<Data>,
): { readonly renew: () => void; readonly stop: () => void } {
  const leaving = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsking = false;
  let isDue = false;
  let failures = 0;

  const wait = (ms: number) => {
    timer = setTimeout(() => (document.hidden ? wait(ms) : run()), ms);
  };
  const once = async (): Promise<number | undefined> => {
    try {
      const answer = await ask(leaving.signal);
      failures = 0;
      if (!leaving.signal.aborted) onAnswer(answer);
      return everyMs;
    } catch (reason) {
      const problem = asProblem(reason);
      if (!leaving.signal.aborted) onProblem(problem);
      if (mayAppear && problem.status === NOT_FOUND) return everyMs;
      failures += 1;
      return everyMs === undefined ? undefined : pauseAfter(problem, everyMs, failures);
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
    if (isDue && failures === 0) run();
    else if (pauseMs !== undefined) wait(pauseMs);
  };
  run();
  return {
    // A failure has its own pause, which a chain that moves does not shorten.
    renew: () => {
      if (failures === 0) run();
    },
    stop: () => {
      leaving.abort();
      clearTimeout(timer);
    },
  };
}

/** Pause after so many failures in a row; undefined where asking again is of no use. */
function pauseAfter(
  { status, retryAfterMs = 0 }: Problem,
  everyMs: number,
  failures: number,
): number | undefined {
  if (LASTING.includes(status)) return undefined;
  const doubled = Math.min(everyMs * 2 ** (failures - 1), Math.max(everyMs, LONGEST_PAUSE_MS));
  return Math.max(doubled, retryAfterMs);
}

/**
 * The children for an answer; before it a placeholder, without it the problem. An answer that could not be renewed stays,
 * below a line that says so.
 */
export function Awaited<Data>({
  loading,
  children,
}: {
  loading: Loading<Data>;
  children: (data: Data, headers: Headers) => ComponentChildren;
}): VNode {
  const { answer, problem, reload } = loading;
  if (answer !== undefined) {
    return html`<${Fragment}>
      ${problem !== undefined && html`<${NotRenewed} problem=${problem} since=${answer.at} retry=${reload} />`}
      ${children(answer.data, answer.headers)}
    <//>`;
  }
  if (problem !== undefined) return html`<${ProblemNotice} problem=${problem} retry=${reload} />`;
  return html`<p class="loading" role="status">Loading…</p>`;
}

/** The line above an answer that is older than it should be. */
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
    <span role="status">Not renewed since <${Moment} at=${since} />.</span>
    <span>${problem.status === undefined && problem.message}<${ProblemFacts} problem=${problem} /></span>
    <button type="button" onClick=${retry}>Try again</button>
  </div>`;
}

/** Status, code and request id of a problem, as far as it has them. */
function ProblemFacts({ problem: { status, code, requestId } }: { problem: Problem }): VNode {
  const facts = [status, code].filter(fact => fact !== undefined).join(' · ');
  return html`<${Fragment}>
    ${facts}${requestId !== undefined && html` · request <code>${requestId}</code>`}
  <//>`;
}

/** An error with its code and request id, and a button to try again where that may help. */
export function ProblemNotice({
  problem,
  retry,
}: {
  problem: Problem;
  retry?: (() => void) | undefined;
}): VNode {
  const { status, message } = problem;
  if (status === NOT_IMPLEMENTED) return html`<${Empty}>None of this chain’s back ends offers this.<//>`;
  return html`<div class="notice bad" role="alert">
    <p>${message}</p>
    <p class="small"><${ProblemFacts} problem=${problem} /></p>
    ${retry !== undefined && html`<button type="button" onClick=${retry}>Try again</button>`}
  </div>`;
}

/** What stands in place of a list without entries; says what to do next. */
export function Empty({ children }: { children: ComponentChildren }): VNode {
  return html`<div class="empty">${children}</div>`;
}
