import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { newId } from '#lib/ids.ts';
import { webhookPayload } from '#payments/events/event-data.ts';
import { testEventData } from '#payments/events/test-event.ts';
import { newWebhookSecret } from '#payments/model/webhook.ts';
import { attemptHeaders } from '#payments/webhooks/attempt.ts';
import { type Figure, figureOf, median } from '../figure.ts';
import { startPlatform } from './platform.ts';
import { type BenchReceiver, startReceiver } from './receiver.ts';

const EVENTS = 5_000;
const CONCURRENCY = 100;
const ROUNDS = 5;
const WANTED = { atLeast: 0.5 };
const GIVE_UP_MS = 60_000;

/**
 * Deliveries per second, from recorded events to the last recorded result, over bare POSTs with the same signature.
 * Both alternate, with the same receiver. The first round of each is not counted, because the code is compiled then.
 */
export async function rate(): Promise<Figure> {
  await using receiver = await startReceiver();
  const rounds: { bare: Pace; ours: Pace }[] = [];
  for (let round = -1; round < ROUNDS; round++) {
    const paces = { bare: await barePosts(receiver), ours: await deliveries(receiver) };
    if (round >= 0) rounds.push(paces);
  }
  const shown = (side: 'bare' | 'ours') => {
    const [perSecond, cpuUs] = (['perSecond', 'cpuUs'] as const).map(of =>
      median(rounds.map(r => r[side][of])),
    );
    return `${perSecond?.toFixed(0)}/s of ${cpuUs?.toFixed(0)} µs CPU`;
  };
  return figureOf({
    name: `${EVENTS} deliveries, rate over bare signed POSTs`,
    rounds: rounds.map(({ bare, ours }) => ours.perSecond / bare.perSecond),
    wanted: WANTED,
    note: `deliveries ${shown('ours')} each, bare POSTs ${shown('bare')}`,
  });
}

/** Cost of one of the `EVENTS`. */
interface Pace {
  readonly perSecond: number;
  /** CPU time of this process, in microseconds. */
  readonly cpuUs: number;
}

async function paceOf(work: () => Promise<unknown>): Promise<Pace> {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return {
    perSecond: EVENTS / ((performance.now() - startedAt) / 1_000),
    cpuUs: (user + system) / EVENTS,
  };
}

async function barePosts({ url }: BenchReceiver): Promise<Pace> {
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
  const postOn = async () => {
    while (left-- > 0) await post();
  };
  const pace = await paceOf(() => Promise.all(Array.from({ length: CONCURRENCY }, postOn)));
  await pool.close();
  return pace;
}

async function deliveries({ url }: BenchReceiver): Promise<Pace> {
  await using platform = await startPlatform();
  const webhook = await platform.webhook(url);
  await platform.happen(webhook, EVENTS);
  return await paceOf(async () => {
    const startedAt = performance.now();
    platform.start(CONCURRENCY);
    while ((await received(platform.db, webhook.id)) < EVENTS) {
      if (performance.now() - startedAt > GIVE_UP_MS) throw new Error('the deliveries did not arrive');
      await delay(20);
    }
  });
}

async function received(
  db: Awaited<ReturnType<typeof startPlatform>>['db'],
  webhookId: string,
): Promise<number> {
  const row: { success_count: number } | undefined = await db
    .from('webhooks')
    .where({ id: webhookId })
    .first();
  return row?.success_count ?? 0;
}
