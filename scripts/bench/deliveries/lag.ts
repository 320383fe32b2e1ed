import { setTimeout as delay } from 'node:timers/promises';
import { type Figure, figureOf, median } from '../figure.ts';
import { startPlatform } from './platform.ts';
import { startReceiver } from './receiver.ts';

const PER_SECOND = 200;
const SECONDS = 2;
const ROUNDS = 3;
const ORGANIZATIONS = 10;
const HANGING = 500;
const CONCURRENCY = 5;
const STEP_MS = 10;
const REST_MS = 1_000;

const MAX_OVER_ALONE = 2;

/** Time from the commit of an event to its arrival at 200 events per second, without and with a receiver that hangs. */
export async function lag(): Promise<Figure[]> {
  const rounds: { alone: number[]; beside: number[] }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({ alone: await lags({ hanging: 0 }), beside: await lags({ hanging: HANGING }) });
  }
  const shown = (side: 'alone' | 'beside', share: number) =>
    `${Math.round(median(rounds.map(round => part(round[side], share))))} ms`;
  return [
    figureOf({
      name: `lag at ${PER_SECOND} events/s, p99 over p50`,
      rounds: rounds.map(({ alone }) => part(alone, 0.99) / part(alone, 0.5)),
      note: [0.5, 0.95, 0.99].map(share => `p${share * 100} ${shown('alone', share)}`).join(', '),
    }),
    figureOf({
      name: `p99 of others while a receiver hangs on ${HANGING} events, over alone`,
      rounds: rounds.map(({ alone, beside }) => part(beside, 0.99) / part(alone, 0.99)),
      wanted: { atMost: MAX_OVER_ALONE },
      note: `${shown('alone', 0.99)} → ${shown('beside', 0.99)}`,
    }),
  ];
}

/** Lag of each event in milliseconds, ascending; infinite for an event that did not arrive. */
async function lags({ hanging }: { hanging: number }): Promise<number[]> {
  await using receiver = await startReceiver();
  await using platform = await startPlatform();
  const webhooks = await Promise.all(
    Array.from({ length: ORGANIZATIONS }, () => platform.webhook(receiver.url)),
  );
  const slow = await platform.webhook(`${receiver.url}/hang`);
  platform.start(CONCURRENCY);
  if (hanging > 0) await platform.happen(slow, hanging);
  await delay(REST_MS);

  const committed = new Map<string, number>();
  const startedAt = performance.now();
  let count = 0;
  while (performance.now() - startedAt < SECONDS * 1_000) {
    const wanted = Math.floor(((performance.now() - startedAt) / 1_000) * PER_SECOND);
    for (; count < wanted; count++) {
      const webhook = webhooks[count % ORGANIZATIONS];
      if (webhook === undefined) throw new Error('there is no webhook');
      const { ids, committedAt } = await platform.happen(webhook, 1);
      for (const id of ids) committed.set(id, committedAt);
    }
    await delay(STEP_MS);
  }
  await delay(REST_MS);
  const times = await receiver.times();
  return [...committed]
    .map(([id, at]) => (times.get(id) ?? Number.POSITIVE_INFINITY) - at)
    .sort((a, b) => a - b);
}

function part(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? Number.NaN;
}
