import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { OperationRow } from '../../src/contract/contracts/operations.ts';
import { paymentsContract } from '../../src/contract/contracts/payments.ts';
import { NATIVE_COIN } from '../../src/payments/model/payment-chain.ts';
import { list, record, text } from '../lab/json.ts';
import { startOwnPostgres } from '../lab/own-postgres.ts';
import { SHOP, startTestPayments, unreachableChain } from '../lab/payments-service.ts';
import { until } from '../lab/until.ts';
import { startReceiver } from '../lab/webhook-receiver.ts';
import { type ApiAnswer, type ApiClient, apiClient } from '../support/payments-api.ts';

const CUSTOMERS = 4;
/** Purchases before and after the outage, each. */
const PURCHASES = 12;
/** Longest time for an answer without a database, on a busy machine. A transaction is retried for longer. */
const PROMPT_MS = 15_000;

test('a PostgreSQL restart under load is answered 503 and loses neither purchases nor deliveries', async () => {
  await using postgres = await startOwnPostgres();
  await using receiver = await startReceiver();
  await using service = await startTestPayments({ kind: 'postgres', url: postgres.url });
  const merchant = apiClient(service.url, service.demoKey);
  await merchant.post('/api/v1/webhooks', { url: receiver.url, events: ['payment.completed'] });
  const paid: string[] = [];
  const closing = new AbortController();
  const customers = Array.from({ length: CUSTOMERS }, async (_, customer) => {
    for (let count = 0; !closing.signal.aborted; count++)
      paid.push(await buy(merchant, `${customer}-${count}`));
  });
  await until(
    async () => paid.length,
    count => count >= PURCHASES,
  );

  await postgres.stop();
  const operations = Object.values<OperationRow>(paymentsContract.table);
  const answers = await Promise.all(operations.map(operation => outcomeOf(operation, merchant)));
  const page = await fetch(`${service.url}/pay/nowhere`);
  const paidBefore = paid.length;
  await postgres.start();
  await until(
    async () => paid.length,
    count => count >= paidBefore + PURCHASES,
  );
  closing.abort();
  await Promise.all(customers);
  const events = await until(
    () => eventsOf(merchant),
    ids => ids.length >= paid.length,
  );
  await until(
    async () => receiver.arrivals.length,
    () => events.every(id => receiver.arrivals.some(({ eventId }) => eventId === id)),
  );

  expect(answers).toEqual(operations.map(({ id }) => `${id}: 503 api_error internal_error, Retry-After 5`));
  expect([page.status, page.headers.get('retry-after')]).toEqual([503, '5']);
  expect(new Set(paid).size).toBeGreaterThanOrEqual(2 * PURCHASES);
  expect(events).toHaveLength(paid.length);
  expect(new Set(receiver.arrivals.map(({ eventId }) => eventId))).toEqual(new Set(events));
});

/** The answer to an operation as text, with its duration if it was slow. */
async function outcomeOf({ id, method, path }: OperationRow, merchant: ApiClient): Promise<string> {
  const body = BODIES[id] ?? {};
  const place = path.replaceAll(/\{[^}]*\}/g, 'cs_00000000000000000000');
  const startedAt = performance.now();
  const answer = await sent(merchant, { method, path: place, body });
  const ms = performance.now() - startedAt;
  const { type, code } = record(record(answer.body).error);
  const told = `${id}: ${answer.status} ${text(type)} ${text(code)}, Retry-After ${answer.headers.get('retry-after')}`;
  return ms <= PROMPT_MS ? told : `${told}, after ${Math.round(ms)} ms`;
}

const TX_HASH = `0x${'0'.repeat(64)}`;

/** Bodies of operations that check their body before they use the database. */
const BODIES: Readonly<Record<string, object>> = {
  bindWallet: { address: SHOP, signature: '0x00' },
  claimPayment: { tx_hash: TX_HASH },
  reportPayment: { tx_hash: TX_HASH },
  stateRefundAddress: { address: SHOP },
};

function sent(
  client: ApiClient,
  { method, path, body }: { method: string; path: string; body: object },
): Promise<ApiAnswer> {
  if (method === 'post') return client.post(path, body);
  if (method === 'patch') return client.patch(path, body);
  return method === 'delete' ? client.delete(path) : client.get(path);
}

/** Opens a session and pays it, and repeats requests answered 503; returns the session's id. */
async function buy(merchant: ApiClient, name: string): Promise<string> {
  const session = await repeated(() =>
    merchant.post('/api/v1/checkout-sessions', SESSION, { 'Idempotency-Key': `open-${name}` }),
  );
  const id = text(record(session.body).id);
  await repeated(() =>
    merchant.post(
      `/api/v1/test/sessions/${id}/simulate`,
      { outcome: 'completed' },
      { 'Idempotency-Key': `pay-${name}` },
    ),
  );
  return id;
}

const SESSION = {
  chain_id: unreachableChain.id,
  token_address: NATIVE_COIN,
  recipient_address: SHOP,
  amount: '2500000000000000000',
};

async function repeated(send: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
  for (;;) {
    const answer = await send();
    if (answer.status < 300) return answer;
    if (answer.status !== 503) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    await delay(50);
  }
}

/** The ids of all events of completed payments. */
async function eventsOf(merchant: ApiClient): Promise<string[]> {
  const ids: string[] = [];
  for (let page = 1; ; page++) {
    const { body } = await merchant.get(`/api/v1/events?type=payment.completed&limit=100&page=${page}`);
    ids.push(...list(record(body).data).map(event => text(record(event).id)));
    if (record(body).has_more !== true) return ids;
  }
}
