import { paymentsError } from '#contract/contracts/payments-errors.ts';
import { entityTag, matchesVersion } from '#http/representation.ts';
import { toJson } from '#lib/json.ts';
import type { ApiCaller } from '../gate/api-context.ts';

/**
 * Compares the version that a caller has read with the record as GET answers it now. To be called in the transaction
 * that changes the record (Decision 360).
 * @throws HttpError precondition_failed
 */
export function checkUnchanged({ ifMatch }: Pick<ApiCaller, 'ifMatch'>, bodyNow: () => object): void {
  if (ifMatch === undefined || matchesVersion(ifMatch, entityTag(toJson(bodyNow())))) return;
  const message = 'The record has changed since it was read. Read it again and repeat the change.';
  throw paymentsError('precondition_failed', message, { param: 'If-Match' });
}
