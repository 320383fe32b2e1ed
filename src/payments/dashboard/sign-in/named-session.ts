import { paymentsError } from '#contract/contracts/payments-errors.ts';
import type { IncomingRequest } from '#contract/mount/request-gate.ts';
import type { Owner } from '#payments/model/owner.ts';

const HEADER = 'X-Dashboard-Session';

/**
 * Refuses a request of a page that was loaded for another organization or mode, because the browser has signed in again
 * since (Decision 426). Programs need not send the header.
 * @throws HttpError 412
 */
export function checkNamedSession({ headers }: Pick<IncomingRequest, 'headers'>, owner: Owner): void {
  const named = headers[HEADER.toLowerCase()];
  if (named === undefined || named === `${owner.organizationId}/${owner.mode}`) return;
  throw paymentsError('precondition_failed', 'The browser has signed in to another organization or mode.', {
    param: HEADER,
  });
}
