import { execute } from '#db/query.ts';
import { systemClock } from '#lib/clock.ts';
import { newId } from '#lib/ids.ts';
import { newDeliveryOf, type Webhook } from '#payments/model/webhook.ts';
import { deliveryQueue } from '#payments/webhooks/delivery-queue.ts';
import { deliveryStore } from '#payments/webhooks/store/delivery-store.ts';
import type { Figure } from '../figure.ts';
import { timeRatio } from '../turns.ts';
import { type BenchPlatform, log, seals, startPlatform } from './platform.ts';

const FINISHED = 1_000_000;
const WEBHOOKS = 20;
const BATCH = 10;
const WARM_ROUNDS = 10;
const ROUNDS = 61;
const MAX_OVER_NONE = 1.5;

/**
 * Time to find and claim ten due deliveries in a table with a million finished ones, over the time in an empty table.
 */
export async function claiming(): Promise<Figure> {
  await using empty = await startPlatform();
  await using full = await startPlatform();
  const sides = [await prepared(empty, 0), await prepared(full, FINISHED)] as const;
  const times = [[], []] as [number[], number[]];
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++) {
    for (const side of [0, 1] as const) {
      const ms = await sides[side]();
      if (round >= 0) times[side].push(ms);
    }
  }
  const name = `claiming beside ${FINISHED} finished deliveries over none`;
  return timeRatio(name, { base: times[0], other: times[1] }, { atMost: MAX_OVER_NONE });
}

async function prepared(platform: BenchPlatform, finished: number): Promise<() => Promise<number>> {
  const { db } = platform;
  const webhooks: Webhook[] = [];
  for (let index = 0; index < WEBHOOKS; index++) webhooks.push(await platform.webhook('http://127.0.0.1:9/'));
  for (const webhook of webhooks) await finish(platform, webhook, finished / WEBHOOKS);
  const queue = deliveryQueue({ db, seals, clock: systemClock, log });
  let turn = 0;
  return async () => {
    const webhook = webhooks[turn++ % WEBHOOKS];
    if (webhook === undefined) throw new Error('there is no webhook');
    const deliveries = Array.from({ length: BATCH }, () => ({
      delivery: aDelivery(webhook),
      body: '{}',
    }));
    await deliveryStore(db, seals).insert(deliveries);
    const startedAt = performance.now();
    const due = await queue.webhooksWithDue();
    const wanted = due.map(({ webhookId }) => ({ webhookId, limit: BATCH }));
    const { begun } = await queue.exchange({ wanted });
    const ms = performance.now() - startedAt;
    const taken = begun.flatMap(claim => claim.deliveries);
    if (taken.length !== BATCH) throw new Error(`${taken.length} deliveries were taken`);
    const endedAt = systemClock.now();
    const result = {
      isSuccess: true,
      responseCode: 204,
      responseTimeMs: 1,
      error: null,
      responseBody: null,
      endedAt,
      jitter: 0,
    };
    await queue.exchange({
      results: taken.map(({ id, token, body }) => ({
        ...result,
        id,
        token,
        sentTo: webhook.url,
        sentBody: body,
      })),
    });
    return ms;
  };
}

/** Inserts `count` finished deliveries of a webhook, all copied from one. */
async function finish({ db }: BenchPlatform, webhook: Webhook, count: number): Promise<void> {
  if (count === 0) return;
  const delivery = { ...aDelivery(webhook), status: 'success', attempts: 1, nextAttemptAt: null } as const;
  await deliveryStore(db, seals).insert([{ delivery, body: '{}' }]);
  const own = ['id', 'event_id', 'created_at'];
  const columns = await db.from('deliveries').columnInfo();
  const copied = Object.keys(columns).filter(column => !own.includes(column));
  await execute(
    db,
    `with recursive copy (number) as (select 2 union all select number + 1 from copy where number < ?)
     insert into deliveries (id, event_id, created_at, ${copied.join(', ')})
     select d.id || number, d.event_id || number, d.created_at - number, ${copied.join(', ')}
     from deliveries d join copy where d.id = ?`,
    [count, delivery.id],
  );
}

function aDelivery(webhook: Webhook) {
  const event = { ...webhook, id: newId('evt'), type: 'payment.completed' } as const;
  return newDeliveryOf(event, webhook.id, { isTest: false, now: systemClock.now() });
}
