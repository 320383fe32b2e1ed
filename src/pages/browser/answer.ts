import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';

const NOT_IMPLEMENTED = 501;

/** A refused or failed request, as the API tells it. `code` is absent from services that name none. */
export class Problem extends Error {
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  /** The field that was refused, as the API names it: `items.0.amount`. */
  readonly param: string | undefined;

  constructor(
    message: string,
    facts: Partial<Pick<Problem, 'status' | 'code' | 'requestId' | 'param'>> = {},
  ) {
    super(message);
    this.status = facts.status;
    this.code = facts.code;
    this.requestId = facts.requestId;
    this.param = facts.param;
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
}

/** The data of a reply. @throws Problem for an error or when the server is out of reach. */
export async function answerOf<Data>(asked: Promise<Reply<Data>>): Promise<Answer<Data>> {
  const { data, error, response } = await asked.catch(reason => {
    if (reason instanceof DOMException && reason.name === 'AbortError') throw reason;
    throw new Problem('The server could not be reached.');
  });
  if (response.ok && data !== undefined) return { data, headers: response.headers };
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
  });
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

/**
 * Asks when the page is shown, whenever one of `inputs` changes, and every `everyMs` milliseconds while the page is
 * visible.
 */
export function useAnswer<Data>(
  ask: (signal: AbortSignal) => Promise<Reply<Data>>,
  inputs: readonly unknown[],
  { everyMs }: { everyMs?: number | undefined } = {},
): Loading<Data> {
  const [state, setState] = useState<Omit<Loading<Data>, 'reload'>>({
    answer: undefined,
    problem: undefined,
  });
  const [round, setRound] = useState(0);

  useEffect(() => setState({ answer: undefined, problem: undefined }), inputs);
  useEffect(() => {
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const next = () => {
      if (everyMs !== undefined) timer = setTimeout(() => (document.hidden ? next() : run()), everyMs);
    };
    const run = async () => {
      try {
        const answer = await answerOf(ask(leaving.signal));
        if (!leaving.signal.aborted) setState({ answer, problem: undefined });
      } catch (reason) {
        if (leaving.signal.aborted) return;
        setState(({ answer }) => ({ answer, problem: asProblem(reason) }));
      }
      if (!leaving.signal.aborted) next();
    };
    run();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [...inputs, round, everyMs]);

  return { ...state, reload: useCallback(() => setRound(number => number + 1), []) };
}

/** The children for an answer; before it a placeholder, without it the problem. */
export function Awaited<Data>({
  loading,
  children,
}: {
  loading: Loading<Data>;
  children: (data: Data, headers: Headers) => ComponentChildren;
}): VNode {
  const { answer, problem, reload } = loading;
  if (answer !== undefined) return html`${children(answer.data, answer.headers)}`;
  if (problem !== undefined) return html`<${ProblemNotice} problem=${problem} retry=${reload} />`;
  return html`<p class="loading" role="status">Loading…</p>`;
}

/** An error with its code and request id, and a button to try again where that may help. */
export function ProblemNotice({
  problem,
  retry,
}: {
  problem: Problem;
  retry?: (() => void) | undefined;
}): VNode {
  const { status, code, requestId, message } = problem;
  if (status === NOT_IMPLEMENTED) return html`<${Empty}>None of this chain’s back ends offers this.<//>`;
  const facts = [status, code].filter(fact => fact !== undefined).join(' · ');
  return html`<div class="notice bad" role="alert">
    <p>${message}</p>
    <p class="small">
      ${facts}${requestId !== undefined && html` · request <code>${requestId}</code>`}
    </p>
    ${retry !== undefined && html`<button type="button" onClick=${retry}>Try again</button>`}
  </div>`;
}

/** What stands in place of a list without entries; says what to do next. */
export function Empty({ children }: { children: ComponentChildren }): VNode {
  return html`<div class="empty">${children}</div>`;
}
