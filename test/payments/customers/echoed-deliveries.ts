import { rowsOf } from '../../../src/db/query.ts';
import type { Owner } from '../../../src/payments/model/owner.ts';
import { attemptStore } from '../../../src/payments/webhooks/store/attempt-store.ts';
import type { PaymentsApi } from '../../support/payments-api.ts';

/** Records that a receiver has answered each delivery of an organization with the body that it got. */
export async function echoDeliveries(
  { db, seals, clock }: PaymentsApi,
  { organizationId }: Owner,
): Promise<void> {
  const deliveries = await rowsOf<{ id: string; sealed_body: string }>(
    db,
    'select id, sealed_body from deliveries where organization_id = ?',
    [organizationId],
  );
  await attemptStore(db, seals).insert(
    deliveries.map(({ id, sealed_body }) => ({
      deliveryId: id,
      number: 1,
      endedAt: clock.now(),
      responseCode: 200,
      responseTimeMs: 5,
      error: null,
      responseBody: seals.open(sealed_body, { table: 'deliveries', column: 'sealed_body', id }),
    })),
  );
}
