import { expect, test } from 'vitest';
import { withoutPayerFields } from '#payments/api/customers/erased-data.ts';

const ADA = `cs_${'a'.repeat(24)}`;
const BOB = `cs_${'b'.repeat(24)}`;
const wrote = {
  customer_id: 'cust_1',
  customerEmail: 'payer@example.com',
  customerName: 'A payer',
  form_data: { size: '37' },
  shipping_address: { line1: '12 Square' },
};
const nothing = {
  customer_id: null,
  customerEmail: null,
  customerName: null,
  form_data: null,
  shipping_address: null,
};

/** An answer without what the payer of the first session wrote. */
const erased = (answer: object): unknown =>
  JSON.parse(withoutPayerFields(JSON.stringify(answer), new Set([ADA])));

test('an answer loses what the payer wrote, in the session, its payments and its events', () => {
  expect(erased({ id: ADA, amount: '5', ...wrote })).toEqual({ id: ADA, amount: '5', ...nothing });
  expect(erased({ id: 'txn_1', session_id: ADA, ...wrote })).toEqual({
    id: 'txn_1',
    session_id: ADA,
    ...nothing,
  });
  expect(
    erased({ data: { id: 'txn_1', checkoutSession: { id: ADA, customerEmail: wrote.customerEmail } } }),
  ).toEqual({ data: { id: 'txn_1', checkoutSession: { id: ADA, customerEmail: null } } });
});

test('an answer keeps what the payers of other sessions wrote', () => {
  const list = {
    data: [
      { id: ADA, ...wrote },
      { id: BOB, ...wrote },
    ],
  };

  expect(erased(list)).toEqual({
    data: [
      { id: ADA, ...nothing },
      { id: BOB, ...wrote },
    ],
  });
});

test('an answer keeps the metadata of the shop, whatever its keys are', () => {
  const metadata = { id: ADA, customer_id: '42', form_data: 'a' };

  expect(erased({ id: ADA, metadata, ...wrote })).toEqual({ id: ADA, metadata, ...nothing });
});
