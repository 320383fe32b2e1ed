import { paymentsError } from '#contract/contracts/payments-errors.ts';
import type { ApiCaller } from './api-context.ts';

/**
 * Refuses a change of where money goes by a member who is no owner (Decision 413).
 * @throws HttpError 403 insufficient_permissions
 */
export function checkOwner({ isOwner }: Pick<ApiCaller, 'isOwner'>): void {
  if (isOwner) return;
  throw paymentsError(
    'insufficient_permissions',
    'Only an owner of the organization may change where money goes, also by a key that may.',
  );
}
