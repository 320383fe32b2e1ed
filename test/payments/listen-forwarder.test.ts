import { expect, test } from 'vitest';
import { forwarder } from '../../src/command/listen/forwarder.ts';
import type { PaymentsSchemas } from '../../src/contract/contracts/payments.ts';
import { testEventData } from '../../src/payments/events/test-event.ts';
import { newWebhookSecret } from '../../src/payments/model/webhook.ts';
import { until } from '../lab/until.ts';
import { startReceiver } from '../lab/webhook-receiver.ts';
import { loopbackSender } from '../support/loopback-sender.ts';
import { manualClock } from '../support/manual-clock.ts';

function anEvent(id: string): PaymentsSchemas['PaymentEvent'] {
  const data = testEventData('payment.completed', Date.now());
  if ('message' in data || !('late' in data)) throw new Error('not the data of a payment');
  const created_at = new Date().toISOString();
  return { object: 'event', id, mode: 'test', event: 'payment.completed', created_at, data };
}

test('an event that its receiver keeps refusing is dropped after three retries, and the next one follows', async () => {
  await using receiver = await startReceiver(({ eventId }) => (eventId === 'evt_refused' ? 503 : 200));
  const sender = loopbackSender();
  const clock = manualClock();
  const waits: (number | undefined)[] = [];
  const forward = forwarder({
    sender,
    clock,
    forwardTo: receiver.url,
    secret: newWebhookSecret(),
    signal: new AbortController().signal,
    onAttempt: ({ againInMs }) => waits.push(againInMs),
  });

  const forwarding = forward(anEvent('evt_refused')).then(() => forward(anEvent('evt_next')));
  for (const [index, waitMs] of [1_000, 3_000, 9_000].entries()) {
    await until(
      async () => receiver.arrivals.length,
      count => count > index,
    );
    await until(async () => clock.sleepers(), Boolean);
    clock.advance(waitMs - 1);
    expect(clock.sleepers()).toBe(1);
    clock.advance(1);
  }
  await forwarding;
  await sender.close();

  expect(waits).toEqual([1_000, 3_000, 9_000, undefined, undefined]);
  expect(receiver.arrivals.map(({ eventId }) => eventId)).toEqual([
    ...Array.from({ length: 4 }, () => 'evt_refused'),
    'evt_next',
  ]);
});
