/** Session of the browser, as far as requests need it. */
export interface BrowserSession {
  readonly organization: { readonly id: string; readonly name: string };
  readonly mode: 'live' | 'test';
  readonly csrf_token: string;
}

const HEADER = 'X-Dashboard-Session';
const CSRF = 'X-CSRF-Token';
const SESSION = '/dashboard/session';
const READS: readonly string[] = ['GET', 'HEAD'];
const FORBIDDEN = 403;
const PRECONDITION_FAILED = 412;
const TOO_MANY_REQUESTS = 429;
/** Longest time that a page waits for its turn without a word, in milliseconds. */
const LONGEST_WAIT_MS = 120_000;

/** Session with which the page was loaded; undefined before that, and on the sign-in page. */
let loaded: { readonly name: string; readonly csrfToken: string } | undefined;
let tellChanged: ((signIn: BrowserSession) => void) | undefined;
let isChanged = false;

/** Never settles: a stopped page shows neither an answer nor an error. */
const NEVER = new Promise<never>(() => {});

/** Organization and mode, as the header names them. */
function sessionName({ organization, mode }: Pick<BrowserSession, 'organization' | 'mode'>): string {
  return `${organization.id}/${mode}`;
}

/** Name of the session with which the page was loaded; undefined before that. */
export const loadedSession = (): string | undefined => loaded?.name;

/** CSRF token of the session; empty before it is known. */
export const csrfToken = (): string => loaded?.csrfToken ?? '';

/**
 * Notes the browser's session. The page stops if it is for another organization or mode than the one with which the
 * page was loaded. Returns false then.
 */
export function noteSession(signIn: BrowserSession): boolean {
  const name = sessionName(signIn);
  if (loaded !== undefined && loaded.name !== name) {
    isChanged = true;
    tellChanged?.(signIn);
    return false;
  }
  loaded = { name, csrfToken: signIn.csrf_token };
  return true;
}

/** Ends the page's requests, before it is left for another mode. */
export function stopRequests(): void {
  isChanged = true;
}

/** Calls `tell` when the page has stopped because the browser is signed in to another organization or mode. */
export function onAnotherSession(tell: (signIn: BrowserSession) => void): () => void {
  tellChanged = tell;
  return () => {
    tellChanged = undefined;
  };
}

/**
 * Sends a request for the session with which the page was loaded (Decision 426). Waits while the server refuses for the
 * number of requests (Decision 427). A change with the token of an earlier session is repeated with the new token.
 */
export async function sendNamed(request: Request): Promise<Response> {
  if (isChanged) return NEVER;
  const isOfPage = new URL(request.url).pathname !== SESSION || request.method === 'DELETE';
  if (loaded !== undefined && isOfPage) request.headers.set(HEADER, loaded.name);
  const response = await sendPatiently(request);
  if (response.status === PRECONDITION_FAILED && (await isRefusedFor(response, HEADER))) {
    await readSession(request.signal);
    return NEVER;
  }
  if (response.status !== FORBIDDEN || READS.includes(request.method)) return response;
  if (!(await isRefusedFor(response, CSRF))) return response;
  const before = csrfToken();
  await readSession(request.signal);
  if (isChanged) return NEVER;
  if (csrfToken() === before) return response;
  request.headers.set(CSRF, csrfToken());
  return sendPatiently(request);
}

/**
 * Reads the browser's session, and stops the page if it is another one. Resolves to false then, and if there is none.
 */
export async function readSession(signal?: AbortSignal): Promise<boolean> {
  const response = await sendPatiently(new Request(SESSION, signal === undefined ? {} : { signal }));
  return response.ok && noteSession(await response.json());
}

async function sendPatiently(request: Request): Promise<Response> {
  for (;;) {
    const response = await fetch(request.clone());
    const waitMs = Number(response.headers.get('Retry-After') ?? Number.NaN) * 1000;
    const mayWait = response.status === TOO_MANY_REQUESTS && waitMs <= LONGEST_WAIT_MS;
    if (!mayWait) return response;
    await pause(waitMs, request.signal);
  }
}

async function isRefusedFor(response: Response, header: string): Promise<boolean> {
  return (await response.clone().text()).includes(`"param":"${header}"`);
}

/** @throws DOMException AbortError */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
