import { afterEach, beforeEach, expect, test } from 'vitest';
import { execute } from '#db/query.ts';
import { lockedTransaction } from '#db/transaction.ts';
import { record, text } from '../../lab/json.ts';
import { postgresDatabase, type TestDatabase } from '../../support/databases.ts';
import {
  aPayment,
  idsOf,
  type Merchant,
  type PaymentsApi,
  PLACE,
  startPaymentsApi,
} from '../../support/payments-api.ts';

const PATH = '/api/v1/transactions';

let database: TestDatabase;
let api: PaymentsApi;
let merchant: Merchant;

beforeEach(async () => {
  database = await postgresDatabase('payments');
  api = await startPaymentsApi(database.options);
  merchant = await api.merchant();
});

afterEach(async () => {
  await api[Symbol.asyncDispose]();
  await database.remove();
});

async function paidTransaction() {
  const terms = { ...PLACE, amount: '4000' };
  const { body } = await merchant.post('/api/v1/checkout-sessions', terms);
  const id = text(record(body).id);
  const payment = aPayment({ amount: 4000n, blockTime: api.clock.now() });
  return api.settle(settled =>
    settled.recordTransfer({ id }, payment, { matchedBy: 'amount', confirmations: 1 }),
  );
}

/** Answer to a request that reads the transaction before its removal and the session after it. */
async function answerAround<T>(
  removed: { id: string; sessionId: string },
  ask: () => Promise<T>,
): Promise<T> {
  const { answer } = await lockedTransaction(api.db, async handle => {
    await execute(handle, 'lock table checkout_sessions in access exclusive mode');
    await execute(handle, 'delete from transactions where id = ?', [removed.id]);
    await execute(handle, 'delete from checkout_sessions where id = ?', [removed.sessionId]);
    const { promise: isSessionAsked, resolve } = Promise.withResolvers<void>();
    api.db.on('query', ({ sql }: { sql: string }) => {
      if (sql.startsWith('select * from checkout_sessions')) resolve();
    });
    const answer = ask();
    await isSessionAsked;
    return { answer };
  });
  return answer;
}

test('a list omits a transaction that is removed with its session during the request', async () => {
  const kept = await paidTransaction();
  const removed = await paidTransaction();

  const answer = await answerAround(removed, () => merchant.get(PATH));

  expect(answer.status).toBe(200);
  expect(idsOf(answer)).toEqual([kept.id]);
});

test('a transaction that is removed with its session during the request is not found', async () => {
  const removed = await paidTransaction();

  const answer = await answerAround(removed, () => merchant.get(`${PATH}/${removed.id}`));

  expect(answer).toMatchObject({ status: 404, body: { error: { code: 'resource_not_found' } } });
});
