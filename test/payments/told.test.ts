import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { VERSION } from '#lib/version.ts';
import { record, text } from '../lab/json.ts';
import { addressOf, startPaymentChain } from '../lab/payment-chain.ts';
import { SHOP, startTestPayments, unreachableChain } from '../lab/payments-service.ts';
import { until } from '../lab/until.ts';
import { startReceiver } from '../lab/webhook-receiver.ts';
import { sqliteDatabase } from '../support/databases.ts';

type Line = Readonly<Record<string, unknown>>;

test('a sale can be followed through the log by its ids, without data of the customer', async () => {
  await using chain = await startPaymentChain({ clock: systemClock });
  const database = await sqliteDatabase('payments');
  onTestFinished(database.remove);
  const written: string[] = [];
  const log = createLogger({ level: 'info', destination: { write: line => void written.push(line) } });
  const lines = (msg: string) =>
    written.map((line): Line => record(JSON.parse(line))).filter(line => line.msg === msg);
  await using receiver = await startReceiver();
  const watched = { ...unreachableChain, id: chain.chainId, rpcUrls: [chain.rpcUrl] };
  const service = await startTestPayments(database.options, { log, chains: [watched] });
  const ask = async (path: string, body: object) => {
    const response = await fetch(`${service.url}/api/v1${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.demoKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    return record(await response.json());
  };
  await ask('/webhooks', { url: `${receiver.url}/private-path`, events: ['payment.completed'] });
  const link = await ask('/payment-links', { name: 'Private notebooks', amount: '7654321' });
  const customer = { customerEmail: 'ada@private.example', customerName: 'Ada Private' };
  const session = await ask('/checkout-sessions', { payment_link_id: link.id, ...customer });

  const due = text(session.amount_due);
  const { hash } = await chain.send({ from: 0, to: addressOf(SHOP), value: BigInt(due) });
  const stray = await chain.send({ from: 1, to: addressOf(SHOP), value: 3n });
  await until(
    async () => {
      await chain.mine();
      return [lines('delivery succeeded'), lines('transfer matches no session')];
    },
    all => all.every(({ length }) => length > 0),
  );
  await service.close();

  const [request] = lines('request').filter(({ operationId }) => operationId === 'createCheckoutSession');
  const organizationId = text(request?.organizationId);
  const settlement = { role: 'settlement', version: VERSION, chainId: chain.chainId };
  const payment = { ...settlement, organizationId, mode: 'test', txHash: hash };
  const [seen] = lines('payment seen');
  const { transactionId } = record(seen);
  expect(request).toMatchObject({ status: 201, keyId: expect.stringMatching(/^ak_/) });
  expect(lines('lease won: this process watches the chain')).toMatchObject([settlement]);
  expect(seen).toMatchObject({ ...payment, transactionId: expect.stringMatching(/^txn_/) });
  expect(lines('payment settled')).toMatchObject([{ ...payment, transactionId, completesSession: true }]);
  expect(lines('transfer matches no session')).toMatchObject([
    { ...settlement, organizationId, txHash: stray.hash, transferId: expect.stringMatching(/^utr_/) },
  ]);
  expect(lines('delivery succeeded')).toMatchObject([
    {
      role: 'delivery',
      version: VERSION,
      organizationId,
      webhookId: expect.stringMatching(/^wh_/),
      deliveryId: expect.stringMatching(/^del_/),
      eventId: expect.stringMatching(/^evt_/),
      eventType: 'payment.completed',
      attempt: 1,
      responseCode: 204,
    },
  ]);
  expect(lines('lease lost: this process no longer watches the chain')).toMatchObject([settlement]);
  expect(written.join('')).not.toMatch(/private/i);
  expect(written.join('')).not.toContain(text(session.id));
  expect(written.join('')).not.toContain(due);
});
