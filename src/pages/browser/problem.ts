/** Refused or failed request, as reported by the API. `code` is absent from services without error codes. */
export class Problem extends Error {
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  /** Refused field, in the API's notation: `items.0.amount`. */
  readonly param: string | undefined;
  /** Delay that the server requests before a retry. */
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

const STATUSES_WITH_A_WAIT: readonly (number | undefined)[] = [429, 503];

/** True when the server could not be reached, or asks to be asked again later, as while it starts. */
export function isTemporary({ status, retryAfterMs }: Pick<Problem, 'status' | 'retryAfterMs'>): boolean {
  return status === undefined || (STATUSES_WITH_A_WAIT.includes(status) && retryAfterMs !== undefined);
}

/** Statuses for which a retry is useless. */
const LASTING: readonly (number | undefined)[] = [400, 401, 403, 404, 501];
/** First pause before a missing record, or one behind a temporary problem, is asked for again. */
const RETRY_MS = 3_000;
const LONGEST_PAUSE_MS = 60_000;
/** Requests for a missing record until a page stops: three and a half minutes with a first pause of three seconds. */
const MOST_MISSES = 8;

/** Pause after consecutive failures; undefined when no further request follows. */
export function pauseAfter(
  problem: Pick<Problem, 'status' | 'retryAfterMs'>,
  { everyMs, isMissing, failures }: { everyMs: number | undefined; isMissing: boolean; failures: number },
): number | undefined {
  if (isMissing) {
    if (failures >= MOST_MISSES) return undefined;
  } else if (LASTING.includes(problem.status) || (everyMs === undefined && !isTemporary(problem))) {
    return undefined;
  }
  const firstMs = isMissing ? RETRY_MS : (everyMs ?? RETRY_MS);
  const doubled = Math.min(firstMs * 2 ** (failures - 1), Math.max(firstMs, LONGEST_PAUSE_MS));
  return Math.max(doubled, problem.retryAfterMs ?? 0);
}

/** Converts an exception to a Problem for display. */
export function asProblem(reason: unknown): Problem {
  return reason instanceof Problem ? reason : new Problem(String(reason));
}

/** Reads error bodies of all forms: `{ message }`, `{ error: message }` and `{ error: { code, message } }`. */
export function problemOf(body: unknown, response: Response): Problem {
  const { error = body } = textsIn(body);
  const text = typeof error === 'string' ? { message: error } : textsIn(error);
  const message = typeof text.message === 'string' ? text.message : `The server answered ${response.status}.`;
  const code = typeof text.code === 'string' ? text.code : undefined;
  const param = typeof text.param === 'string' ? text.param : undefined;
  const retryAfterMs = retryAfterOf(response.headers);
  return new Problem(wordsFor({ code, param, retryAfterMs }) ?? message, {
    status: response.status,
    code,
    requestId: response.headers.get('X-Request-Id') ?? undefined,
    param,
    retryAfterMs,
  });
}

/** Message for people where the API's own is for programs; undefined elsewhere. */
function wordsFor({
  code,
  param,
  retryAfterMs = 0,
}: Partial<Pick<Problem, 'code' | 'param' | 'retryAfterMs'>>): string | undefined {
  if (param === 'X-CSRF-Token') return 'This page belongs to an earlier session. Reload it.';
  if (code === 'resource_not_found') {
    return 'There is no such record in this organization and mode.';
  }
  if (code !== 'rate_limit_exceeded') return undefined;
  const seconds = Math.ceil(retryAfterMs / 1000);
  const wait = seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
  return `Too many requests. Try again in ${wait}.`;
}

function retryAfterOf(headers: Headers): number | undefined {
  const seconds = Number(headers.get('Retry-After') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

function textsIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** Sentence in the box of a form when the reason stands next to the field. */
const MARKED = 'Please correct the marked field.';

const REQUIRED = /^The '[^']+' field is required\b/;

/** Rules of the contract, which are written for programs, in the words of a form. */
const RULES: readonly (readonly [rule: RegExp, words: string])[] = [
  [
    /a positive decimal integer (?:below 2\^256|of at most 78 digits) without leading zeros/,
    'an amount above 0',
  ],
  [
    /a non-negative decimal integer (?:below 2\^256|of at most 78 digits) without leading zeros/,
    'an amount of 0 or more',
  ],
  [/ with at least one visible character and no control characters| without control characters/, ''],
  [/cannot be true without an email_address/, 'needs an email address'],
  [/cannot be true before the messenger is linked/, 'needs a linked chat'],
];

/** Reason for refusing a field, to be shown next to it. The API names the field, which people know by its label. */
export function besideField({ message }: Pick<Problem, 'message'>): string {
  if (REQUIRED.test(message)) return 'Please fill this in.';
  return inWords(message).replace(/^The '[^']+' field /, 'The field ');
}

/** Message of a problem for the box of a form. `isMarked` is true when a field shows the reason. */
export function boxText({ message }: Pick<Problem, 'message'>, isMarked: boolean): string {
  if (isMarked) return MARKED;
  const named = (_: string, field: string) => `The field “${field.replaceAll(/[._]/g, ' ')}” `;
  return inWords(message).replace(/^The '([^']+)' field /, named);
}

function inWords(message: string): string {
  return RULES.reduce((text, [rule, words]) => text.replace(rule, words), message);
}
