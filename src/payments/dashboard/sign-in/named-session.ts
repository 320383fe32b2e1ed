import { paymentsError } from '#contract/contracts/payments-errors.ts';
import type { IncomingRequest } from '#contract/mount/request-gate.ts';
import type { Owner } from '#payments/model/owner.ts';

const HEADER = 'X-Dashboard-Session';
const QUERY = 'dashboard_session';

/**
 * Takes the session that a download names from its query, because a link sends no headers. Returns the target without it,
 * as the API knows it, and the name; undefined for none.
 */
export function takeNamedSession(target: string): { target: string; named: string | undefined } {
  const [path = '', search = ''] = target.split('?');
  const query = new URLSearchParams(search);
  const named = query.get(QUERY) ?? undefined;
  if (named === undefined) return { target, named };
  query.delete(QUERY);
  return { target: query.size === 0 ? path : `${path}?${query}`, named };
}

/**
 * Refuses a request of a page that was loaded for another organization or mode, because the browser has signed in again
 * since (Decision 426). Programs need not name one.
 * @throws HttpError 412
 */
export function checkNamedSession(
  { headers }: Pick<IncomingRequest, 'headers'>,
  owner: Owner,
  named: unknown = headers[HEADER.toLowerCase()],
): void {
  if (named === undefined || named === `${owner.organizationId}/${owner.mode}`) return;
  throw paymentsError('precondition_failed', 'The browser has signed in to another organization or mode.', {
    param: HEADER,
  });
}
