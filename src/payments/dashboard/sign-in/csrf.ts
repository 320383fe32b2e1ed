import { createHmac, timingSafeEqual } from 'node:crypto';
import { paymentsError } from '#contract/contracts/payments-errors.ts';
import type { IncomingRequest } from '#contract/mount/request-gate.ts';

type Asking = Pick<IncomingRequest, 'method' | 'headers' | 'client'>;

const READS: readonly string[] = ['GET', 'HEAD'];
const HEADER = 'x-csrf-token';

/** CSRF token of a sign-in. It is an HMAC of the sign-in token, so it need not be stored (Decision 246). */
export function csrfTokenOf(token: string): string {
  return createHmac('sha256', token).update('csrf').digest('base64url');
}

/** True for a request that may change something. */
function isChange({ method }: Pick<Asking, 'method'>): boolean {
  return !READS.includes(method);
}

/**
 * Checks that a change has its sign-in's CSRF token and comes from a page of our own origin.
 * @throws HttpError 403 insufficient_permissions
 */
export function checkChange(
  request: Asking,
  signIn: { readonly token: string; readonly publicUrl: string },
): void {
  if (!isChange(request)) return;
  checkOrigin(request, signIn.publicUrl);
  const given = Buffer.from(String(request.headers[HEADER] ?? ''));
  const expected = Buffer.from(csrfTokenOf(signIn.token));
  if (given.length === expected.length && timingSafeEqual(given, expected)) return;
  throw paymentsError(
    'insufficient_permissions',
    'The X-CSRF-Token header must hold the csrf_token of the session.',
    { param: 'X-CSRF-Token' },
  );
}

/**
 * Refuses requests from pages of another origin. Clients other than browsers send neither header.
 * @throws HttpError 403 insufficient_permissions
 */
export function checkOrigin({ headers, client }: Omit<Asking, 'method'>, publicUrl: string): void {
  const site = headers['sec-fetch-site'];
  const { origin } = headers;
  const own = [`${client.protocol}://${client.host}`, publicUrl].map(originOf);
  const isOurs =
    (site === undefined || site === 'same-origin') && (origin === undefined || own.includes(origin));
  if (isOurs) return;
  throw paymentsError('insufficient_permissions', 'Changes are accepted from pages of this dashboard only.');
}

/** Origin of a URL as browsers write it, without the default port of its scheme. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
