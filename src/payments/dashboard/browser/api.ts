import createClient, { type Middleware } from 'openapi-fetch';
import type { Readable } from 'openapi-typescript-helpers';
import type { components as DashboardParts, paths as DashboardPaths } from '#generated/dashboard/types.ts';
import type { components, paths } from '#generated/payments/types.ts';
import { answerOf } from '#pages/browser/answer.ts';
import { dashboard } from './addresses.ts';
import { rememberSession } from './session/known-session.ts';
import { askPasskey } from './session/passkey.ts';
import { csrfToken, noteSession, sendNamed, stopRequests } from './session/send.ts';

/** Records of document 3, as the client gives them: it leaves out fields that are always null. */
export type Payments = Readable<components['schemas']>;
/** Records of sign-ins and members. */
export type DashboardRecords = DashboardParts['schemas'];
/** Sign-in with its organization, member and permissions. */
export type SignIn = DashboardRecords['DashboardSession'];

/** QR code as an SVG path. */
export type QrDrawing = DashboardRecords['QrCode'];

/** All that the overview page shows. */
export type DashboardOverview = DashboardRecords['DashboardOverview'];

const READS: readonly string[] = ['GET', 'HEAD'];
const KEY_BYTES = 16;

/** Client for signing in and out, and for the overview. */
export const signInApi = createClient<DashboardPaths>({ baseUrl: location.origin, fetch: orConfirm });

/** Client for the operations of document 3, authenticated by the sign-in. */
export const api = createClient<paths>({ baseUrl: `${location.origin}/dashboard`, fetch: sendOnce });

/** Requests the sign-in. Notes for whom the page is loaded, which every later request names. */
export async function askSignIn(signal: AbortSignal) {
  const reply = await signInApi.GET('/dashboard/session', { signal, middleware: [orSignIn] });
  if (reply.data !== undefined) {
    rememberSession(true);
    noteSession(reply.data);
  }
  return reply;
}

/** Requests the overview of a period. */
export function askOverview(period: Payments['AnalyticsOverview']['period'], signal: AbortSignal) {
  return signInApi.GET('/dashboard/overview', {
    params: { query: { period } },
    signal,
    middleware: [orSignIn],
  });
}

/** A member or key by name. */
export type NamedActor = DashboardRecords['NamedActor'];

/** Names of the organization's members and keys. @throws Problem */
export async function askNames(): Promise<readonly NamedActor[]> {
  return (await answerOf(signInApi.GET('/dashboard/actors', { middleware: [orSignIn] }))).data.data;
}

/** Header that a change by `signInApi` needs. */
export function changeHeader(): { readonly 'X-CSRF-Token': string } {
  return { 'X-CSRF-Token': csrfToken() };
}

/** Switches this sign-in to another mode, and opens the overview. @throws Problem */
export async function switchMode(mode: SignIn['mode']): Promise<void> {
  const params = { header: changeHeader() };
  await answerOf(signInApi.PATCH('/dashboard/session', { params, body: { mode }, middleware: [orSignIn] }));
  stopRequests();
  location.assign(dashboard.overview);
}

/** Ends this sign-in, or all of its member if `everywhere`. Then opens the sign-in page. @throws Problem */
export async function signOut({ everywhere }: { everywhere: boolean }): Promise<void> {
  const params = { query: { everywhere }, header: changeHeader() };
  await answerOf(signInApi.DELETE('/dashboard/session', { params, middleware: [orSignIn] }));
  rememberSession(false);
  location.replace(dashboard.signIn());
}

/** Requests the QR code for the URL of a pay page or a chat. */
export function drawQrCode(text: string, signal: AbortSignal) {
  const params = { header: changeHeader() };
  return signInApi.POST('/dashboard/qr-code', { params, body: { text }, signal, middleware: [orSignIn] });
}

/** Makes a new idempotency key, so that a change that is sent twice happens once. */
export function idempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('');
}

const withToken: Middleware = {
  onRequest({ request }) {
    if (!READS.includes(request.method)) request.headers.set('X-CSRF-Token', csrfToken());
  },
};

/**
 * Opens the sign-in page when the sign-in has ended, with a way back to this page. The request never settles, so no
 * error is shown.
 */
export const orSignIn: Middleware = {
  onResponse({ response }) {
    if (response.status !== 401) return undefined;
    rememberSession(false);
    location.replace(dashboard.signIn(`${location.pathname}${location.search}`));
    return new Promise<never>(() => {});
  },
};

api.use(withToken, orSignIn);

const KEY = 'Idempotency-Key';
const FIRST_SERVER_ERROR = 500;
const CONFLICT = 409;

/** Idempotency keys of changes with an unknown outcome, by method, URL and body. */
const open = new Map<string, string>();

/**
 * Sends a request. A repeated change with an unknown outcome uses the idempotency key of its first attempt, so that it
 * happens once. A different body, or a change after an answer, keeps its own key.
 */
async function sendOnce(request: Request): Promise<Response> {
  const own = request.headers.get(KEY);
  if (own === null) return orConfirm(request);
  const change = `${request.method} ${request.url} ${await request.clone().text()}`;
  const key = open.get(change) ?? own;
  open.set(change, key);
  request.headers.set(KEY, key);
  const response = await orConfirm(request);
  if (!(await isUnknown(response))) open.delete(change);
  return response;
}

const FORBIDDEN = 403;

/** Sends a request. If a passkey has to confirm it, asks for the passkey and sends the request again. */
async function orConfirm(request: Request): Promise<Response> {
  const again = request.clone();
  const response = await sendNamed(request);
  if (response.status !== FORBIDDEN) return response;
  if (!(await response.clone().text()).includes('"param":"passkey"')) return response;
  const url = `${location.origin}/dashboard/session/confirmation`;
  const headers = { ...changeHeader(), 'Content-Type': 'application/json' };
  const challenge = await sendNamed(new Request(url, { method: 'POST', headers: changeHeader() }));
  if (!challenge.ok) return response;
  const { options } = await challenge.json();
  const passkey = await askPasskey(options);
  const body = JSON.stringify({ passkey });
  const confirmed = await sendNamed(new Request(url, { method: 'PUT', headers, body }));
  return confirmed.ok ? sendNamed(again) : confirmed;
}

/** True when the change may have happened or may still happen, for example while its first attempt is in progress. */
async function isUnknown(response: Response): Promise<boolean> {
  if (response.status >= FIRST_SERVER_ERROR) return true;
  return response.status === CONFLICT && (await response.clone().text()).includes('"idempotency_conflict"');
}
