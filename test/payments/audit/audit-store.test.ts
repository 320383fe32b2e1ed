import { expect } from 'vitest';
import { auditStore } from '../../../src/payments/audit/audit-store.ts';
import { eachPaymentsDatabase } from '../../support/each-payments-database.ts';

const EVENT = {
  type: 'payment_link.create',
  resourceId: null,
  actor: 'api_key:ak_a',
  address: '203.0.113.9',
  method: 'POST',
  path: '/api/v1/payment-links',
  status: 201,
} as const;

eachPaymentsDatabase('the audit log', test => {
  test('loses its oldest events first, a batch at a time', async ({ db, owner }) => {
    const store = auditStore(db);
    for (const age of [1, 2, 3]) await store.insert({ ...EVENT, ...owner, id: `aud_${age}`, createdAt: age });
    const left = async () => (await store.list(owner, {}, { page: 1, limit: 10 })).data.map(({ id }) => id);

    expect(await store.removeOld({ before: 3, limit: 1 })).toBe(1);
    expect(await left()).toEqual(['aud_3', 'aud_2']);
    expect(await store.removeOld({ before: 3, limit: 10 })).toBe(1);
    expect(await left()).toEqual(['aud_3']);
  });
});
