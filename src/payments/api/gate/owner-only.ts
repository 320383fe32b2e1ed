import { paymentsError } from '#contract/contracts/payments-errors.ts';
import type { Credential } from './authenticate.ts';

/**
 * Refuses what only an owner may do: changes of people, and of where money goes (Decision 413).
 * @throws HttpError 403 insufficient_permissions
 */
export function checkOwner(caller: Pick<Credential, 'isOwner' | 'mustConfirm'>): void {
  if (!caller.isOwner) {
    throw paymentsError(
      'insufficient_permissions',
      'Only an owner of the organization may change people and where money goes, also by a key that may.',
    );
  }
  checkConfirmed(caller);
}

/**
 * Refuses a change that a passkey has to confirm (Decision 417). `param` is what pages branch on.
 * @throws HttpError 403 insufficient_permissions
 */
export function checkConfirmed({ mustConfirm }: Pick<Credential, 'mustConfirm'>): void {
  if (!mustConfirm) return;
  const message = 'Confirm this change with your passkey.';
  throw paymentsError('insufficient_permissions', message, { param: 'passkey' });
}
