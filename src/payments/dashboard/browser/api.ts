import createClient, { type Middleware } from 'openapi-fetch';
import type { components as SessionComponents, paths as SessionPaths } from '#generated/dashboard/types.ts';
import type { components, paths } from '#generated/payments/types.ts';
import { answerOf } from '#pages/browser/answer.ts';
import { dashboard } from './addresses.ts';
import { sendOnce } from './repetition.ts';

/** Records of document 3. */
export type Payments = components['schemas'];
/** Whose session it is, and what its key may do. */
export type Session = SessionComponents['schemas']['DashboardSession'];

/** A QR code as the path of an SVG. */
export type QrDrawing = SessionComponents['schemas']['QrCode'];

const READS: readonly string[] = ['GET', 'HEAD'];
const KEY_BYTES = 16;

/** Signing in and out. */
export const sessionApi = createClient<SessionPaths>({ baseUrl: location.origin });

/** The operations of document 3, with the key of the session. */
export const api = createClient<paths>({ baseUrl: `${location.origin}/dashboard`, fetch: sendOnce });

let csrfToken = '';

/** Asks whose session it is. Changes can be sent after it. */
export async function askSession(signal: AbortSignal) {
  const reply = await sessionApi.GET('/dashboard/session', { signal, middleware: [orSignIn] });
  csrfToken = reply.data?.csrf_token ?? csrfToken;
  return reply;
}

/** Ends the session, everywhere or in this browser, and leads to where one signs in. @throws Problem */
export async function signOut({ everywhere }: { everywhere: boolean }): Promise<void> {
  const params = { query: { everywhere }, header: { 'X-CSRF-Token': csrfToken } };
  await answerOf(sessionApi.DELETE('/dashboard/session', { params, middleware: [orSignIn] }));
  location.replace(dashboard.signIn());
}

/** Asks for the QR code of a pay page's address, or of a chat's. */
export function drawQrCode(text: string, signal: AbortSignal) {
  const params = { header: { 'X-CSRF-Token': csrfToken } };
  return sessionApi.POST('/dashboard/qr-code', { params, body: { text }, signal, middleware: [orSignIn] });
}

/** A new idempotency key, so that a change that is sent twice happens once. */
export function idempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('');
}

const withToken: Middleware = {
  onRequest({ request }) {
    if (!READS.includes(request.method)) request.headers.set('X-CSRF-Token', csrfToken);
  },
};

let isStaying = false;

/** Whether the page stays as it is when the session has ended: it shows a secret that is not told again. */
export function stayWithoutSession(isNeeded: boolean): void {
  isStaying = isNeeded;
}

/** Leads to where one signs in, and back, when the session has ended. The page waits for that without an error. */
const orSignIn: Middleware = {
  onResponse({ response }) {
    if (response.status !== 401) return undefined;
    if (!isStaying) location.replace(dashboard.signIn(`${location.pathname}${location.search}`));
    return new Promise<never>(() => {});
  },
};

api.use(withToken, orSignIn);
