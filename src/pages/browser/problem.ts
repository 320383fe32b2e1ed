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

/** Reason of the API for refusing a field, to be shown next to it. The API names the field, which people know by its label. */
export function besideField(message: string): string {
  return message.replace(/^The '[^']+' field /, 'The field ');
}
