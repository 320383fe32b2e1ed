import { paymentsError } from '#contract/contracts/payments-errors.ts';
import type { HttpError } from '#http/errors.ts';

/** Records that a request names by id, as the contract's `object` writes them. */
export type RecordKind =
  | 'payment_link'
  | 'checkout_session'
  | 'transaction'
  | 'unmatched_transfer'
  | 'api_key'
  | 'recipient'
  | 'webhook'
  | 'webhook_delivery';

/** What another owner's record and one that never was answer alike (Decision 96). */
export function notFound(kind: RecordKind, id: string): HttpError {
  return paymentsError('resource_not_found', `No ${kind} with id '${id}'.`);
}
