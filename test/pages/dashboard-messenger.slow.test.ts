import { expect } from 'vitest';
import { type BotApi, startBotApi } from '../lab/bot-api.ts';
import { LOOPBACK_ONLY, startTestPayments, type TestPaymentsService } from '../lab/payments-service.ts';
import { briskClock } from '../support/brisk-clock.ts';
import { test as base } from './dashboard-page.ts';

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of used fixtures from the pattern.
  .extend('bot', { scope: 'file' }, async ({}, { onCleanup }): Promise<BotApi> => {
    const bot = await startBotApi();
    onCleanup(() => bot[Symbol.asyncDispose]());
    return bot;
  })
  .extend(
    'service',
    { scope: 'file' },
    async ({ database, bot }, { onCleanup }): Promise<TestPaymentsService> => {
      const messenger = { token: bot.token, apiRoot: bot.url };
      const outgoing = { ...LOOPBACK_ONLY, messenger };
      const service = await startTestPayments(database, { clock: briskClock, outgoing });
      onCleanup(service.close);
      return service;
    },
  );

test('a chat is linked by a code, appears without a reload, and gets a test message', async ({
  page,
  signIn,
  bot,
  complaints,
}) => {
  await signIn();
  await page.goto('/dashboard/notifications');
  await page.getByRole('button', { name: 'Link a chat' }).click();
  await page.getByRole('img', { name: 'QR code of the link to the bot' }).waitFor();
  const address = await page.getByRole('link', { name: 'the bot' }).getAttribute('href');
  expect(address).toMatch(/^https:\/\/t\.me\//);

  bot.write(42, `/start ${address?.split('?start=')[1]}`, 'ada_l');
  await page.getByText('@ada_l').waitFor();
  expect(await page.getByRole('button', { name: 'Send test message' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('button', { name: 'Send test message' }).click();

  await page.getByRole('status').getByText('A test message was sent').waitFor();
  expect(bot.sent().some(line => line.startsWith('42: '))).toBe(true);
  await page.getByRole('button', { name: 'Unlink' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click();
  await page.getByText('Not linked').waitFor();
  expect(complaints).toEqual([]);
});
