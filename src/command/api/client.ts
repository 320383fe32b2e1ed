import { type Environment, readEnvironment } from '#config/environment.ts';
import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { Refused, UsageError } from '#lib/command-line.ts';

/** A request to the payments API. `path` begins with `/api/v1` and includes the query. */
export interface ApiRequest {
  /** GET when absent. */
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Outcome of a request: `unchanged` is a 304, `away` means no answer from the API at all. `message` is for people. */
export type ApiReply<Body> =
  | { readonly kind: 'done'; readonly body: Body; readonly headers: Headers }
  | { readonly kind: 'unchanged' }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly message: string;
      /** Milliseconds; undefined without a Retry-After header. */
      readonly retryAfterMs: number | undefined;
    }
  /** `code` is Node's error code, for example `ECONNREFUSED`; undefined when there is none. */
  | { readonly kind: 'away'; readonly message: string; readonly code: string | undefined };

/** Sends requests to the payments API of one server with one key. Never rejects. */
export interface ApiClient {
  ask<Body>(request: ApiRequest): Promise<ApiReply<Body>>;
}

/** Longer than the 30 s that the receiver of a test event may take. */
const TIMEOUT_MS = 35_000;

/** Creates a client. `url` has no trailing slash. The signal aborts a running request. */
export function apiClient({
  url,
  key,
  signal,
}: {
  url: string;
  key: string;
  signal?: AbortSignal;
}): ApiClient {
  return {
    async ask<Body>({ method = 'GET', path, body, headers }: ApiRequest): Promise<ApiReply<Body>> {
      const deadline = AbortSignal.timeout(TIMEOUT_MS);
      try {
        const response = await fetch(url + path, {
          method,
          headers: {
            Authorization: `Bearer ${key}`,
            ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
            ...headers,
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
        });
        const content = await response.text();
        if (response.status === 304) return { kind: 'unchanged' };
        if (!response.ok) return refused(response, content);
        return { kind: 'done', body: JSON.parse(content), headers: response.headers };
      } catch (error) {
        const message = `${url} does not answer as a payments server: ${reasonOf(error)}`;
        return { kind: 'away', message, code: codeOf(error) };
      }
    },
  };
}

/** Sends a request and returns the body. @throws Refused for anything but a success */
export async function done<Body>(client: ApiClient, request: ApiRequest): Promise<Body> {
  const reply = await client.ask<Body>(request);
  if (reply.kind === 'done') return reply.body;
  throw new Refused(reply.kind === 'unchanged' ? 'The server answered with status 304.' : reply.message);
}

/** The API's own error message, or the status when another server answered. */
function refused({ status, headers }: Response, content: string): ApiReply<never> {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  const retryAfterMs = seconds >= 0 ? seconds * 1_000 : undefined;
  return { kind: 'refused', status, message: messageIn(content, status), retryAfterMs };
}

function messageIn(content: string, status: number): string {
  try {
    const { error }: PaymentsSchemas['ErrorBody'] = JSON.parse(content);
    return `${error.code}: ${error.message}`;
  } catch {
    return `The server answered with status ${status}.`;
  }
}

function codeOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message;
}

/** Options of every command that calls the API. */
export const API_OPTIONS = {
  key: { type: 'string' },
  url: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Explains the option `url` in the help of a command. */
export const URL_HELP = 'the payments server; TOLLGATE_URL or http://127.0.0.1:3001 when absent';

/** Address of a server, and the API key to use there. `url` has no trailing slash. */
export interface ApiServer {
  readonly url: string;
  readonly key: string;
}

/**
 * Server that the options name. The key is best passed in the environment, because every user of a machine can read the
 * arguments of its processes.
 * @throws UsageError
 */
export function apiServerOf(
  { key: option, url: named }: { key?: string | undefined; url?: string | undefined },
  { apiKey, apiUrl }: Pick<Environment, 'apiKey' | 'apiUrl'> = readEnvironment(),
): ApiServer {
  const key = option || apiKey;
  if (key === undefined) throw new UsageError('the API key is missing: set TOLLGATE_KEY');
  const url = named ?? apiUrl ?? 'http://127.0.0.1:3001';
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new UsageError(`${named === undefined ? 'TOLLGATE_URL' : '--url'} takes the address of a server`);
  return { url: url.replace(/\/+$/, ''), key };
}
