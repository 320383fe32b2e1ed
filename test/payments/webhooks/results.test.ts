import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { systemClock } from '#lib/clock.ts';
import type { AttemptResult } from '#payments/model/webhook.ts';
import { results } from '#payments/webhooks/results.ts';
import { log } from './setting.ts';

test('writes a result that comes at the very moment at which the one before was written', async () => {
  const written: string[] = [];
  const { write } = results({
    settleAll: async batch => void written.push(...batch.map(({ id }) => id)),
    clock: systemClock,
    log,
  });

  const both = write(aResult('del_1')).then(() => write(aResult('del_2')));
  await Promise.race([both, delay(1_000)]);

  expect(written).toEqual(['del_1', 'del_2']);
});

function aResult(id: string): AttemptResult {
  return {
    id,
    token: 'lease_1',
    sentTo: 'https://books.example/hooks',
    isSuccess: true,
    responseCode: 200,
    responseTimeMs: 1,
    error: null,
    endedAt: 0,
    jitter: 0,
  };
}
