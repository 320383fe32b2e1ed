import { expect } from 'vitest';
import { uintColumn } from '#db/columns.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';

const TIME = 1_700_000_000_000;
const AMOUNT = uintColumn(1_000_000n);
const ID = 'cs_000000000000000000000000';

/** Values that no record has. PostgreSQL cannot compare most of them with a column. */
const FORGED_TIMES = [1.5, 1e300, 2 ** 53, '1', null, true, [TIME]];
const FORGED_AMOUNTS = ['', '5', '0525', '01x', '071\u0000', `99${'9'.repeat(99)}`, 1_000_000, null];
const FORGED_IDS = ['cs_\u0000', '', 'cs_\ud800', 'a'.repeat(65), 7, null];

const FORGED = {
  created_at: [
    ...FORGED_TIMES.map(time => [time, ID]),
    ...FORGED_IDS.map(id => [TIME, id]),
    [TIME],
    [TIME, ID, ID],
  ],
  amount: [
    ...FORGED_AMOUNTS.map(amount => [amount, TIME, ID]),
    ...FORGED_TIMES.map(time => [AMOUNT, time, ID]),
    ...FORGED_IDS.map(id => [AMOUNT, TIME, id]),
    [AMOUNT, TIME],
  ],
};

eachPaymentsApi('a cursor with values that no record has is refused in the list of', test => {
  test.for([
    ['checkout-sessions', 'created_at'],
    ['checkout-sessions', 'amount'],
    ['transactions', 'created_at'],
    ['transactions', 'amount'],
    ['customers', 'created_at'],
    ['unmatched-transfers', 'created_at'],
  ] as const)('%s by %s', async ([list, sort], { merchant }) => {
    for (const values of FORGED[sort]) {
      const cursor = Buffer.from(JSON.stringify([sort, 'desc', ...values])).toString('base64url');
      const order = list === 'unmatched-transfers' ? '' : `&sort=${sort}`;

      const { status, body } = await merchant.get(`/api/v1/${list}?cursor=${cursor}${order}`);

      expect([values, status, body]).toMatchObject([
        values,
        400,
        { error: { code: 'invalid_field_value', param: 'cursor' } },
      ]);
    }
  });
});
