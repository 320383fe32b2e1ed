import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { newId } from '#lib/ids.ts';
import { webhookPayload } from '#payments/events/event-data.ts';
import { testEventData } from '#payments/events/test-event.ts';
import { newWebhookSecret } from '#payments/model/webhook.ts';
import { attemptHeaders } from '#payments/webhooks/attempt.ts';
import { type Figure, median } from '../figure.ts';
import { startPlatform } from './platform.ts';
import { type BenchReceiver, startReceiver } from './receiver.ts';

const EVENTS = 5_000;
const CONCURRENCY = 100;
const ROUNDS = 3;
const TARGET = 0.12;
const GIVE_UP_MS = 20_000;

/** Deliveries a second, from events in the database to the last result in it, over bare POSTs with the same signature. */
export async function rate(): Promise<Figure> {
  const ours: number[] = [];
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await using receiver = await startReceiver();
    const bare = await barePosts(receiver);
    const delivered = await deliveries(receiver);
    ours.push(delivered);
    ratios.push(delivered / bare);
  }
  return {
    name: `${EVENTS} deliveries, rate over bare signed POSTs`,
    value: median(ratios),
    target: `≥ ${TARGET}`,
    ok: median(ratios) >= TARGET,
    note: `${Math.round(median(ours))} deliveries/s`,
  };
}

async function barePosts({ url }: BenchReceiver): Promise<number> {
  const pool = new Pool(url, { connections: CONCURRENCY });
  const secrets = { current: newWebhookSecret(), previous: null };
  const post = async () => {
    const attemptedAt = Date.now();
    const data = testEventData('payment.completed', attemptedAt);
    const event = { id: newId('evt'), type: 'payment.completed', createdAt: attemptedAt, data } as const;
    const body = webhookPayload(event, 'wh_1');
    const ids = { webhookId: 'wh_1', deliveryId: newId('del'), attempt: 1, eventId: event.id } as const;
    const signed = { ...ids, eventType: event.type, isTest: false, attemptedAt, body, secrets };
    const answer = await pool.request({ path: '/', method: 'POST', headers: attemptHeaders(signed), body });
    await answer.body.dump();
  };
  let left = EVENTS;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      while (left-- > 0) await post();
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  await pool.close();
  return EVENTS / seconds;
}

async function deliveries({ url }: BenchReceiver): Promise<number> {
  await using platform = await startPlatform();
  const webhook = await platform.webhook(url);
  await platform.happen(webhook, EVENTS);
  const startedAt = performance.now();
  platform.start(CONCURRENCY);
  while ((await received(platform.db, webhook.id)) < EVENTS) {
    if (performance.now() - startedAt > GIVE_UP_MS) throw new Error('the deliveries did not arrive');
    await delay(20);
  }
  return EVENTS / ((performance.now() - startedAt) / 1000);
}

async function received(
  db: Awaited<ReturnType<typeof startPlatform>>['db'],
  webhookId: string,
): Promise<number> {
  const row: { success_count: number } | undefined = await db('webhooks').where({ id: webhookId }).first();
  return row?.success_count ?? 0;
}
