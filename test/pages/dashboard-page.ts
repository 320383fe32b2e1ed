import type { BrowserContext, Page } from 'playwright-core';
import type { DatabaseOptions } from '#db/open.ts';
import { record, text } from '../lab/json.ts';
import { startTestPayments, type TestPaymentsService } from '../lab/payments-service.ts';
import { PATIENCE_MS } from '../lab/until.ts';
import { briskClock } from '../support/brisk-clock.ts';
import { complaintsOf, test as withBrowser } from '../support/browser.ts';
import { sqliteDatabase } from '../support/databases.ts';
import { type ApiClient, apiClient } from '../support/payments-api.ts';

/** `test` with a running service, a client with its demo's key, and a browser that has not signed in. */
export const test = withBrowser
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of used fixtures from the pattern.
  .extend('database', { scope: 'file' }, async ({}, { onCleanup }): Promise<DatabaseOptions> => {
    const database = await sqliteDatabase('payments');
    onCleanup(database.remove);
    return database.options;
  })
  .extend('service', { scope: 'file' }, async ({ database }, { onCleanup }): Promise<TestPaymentsService> => {
    const service = await startTestPayments(database, { clock: briskClock });
    onCleanup(service.close);
    return service;
  })
  .extend('merchant', ({ service }): ApiClient => apiClient(service.url, text(service.demoKey)))
  /** Another key of the demo with this permission. */
  .extend('keyOf', ({ merchant }) => async (permission: string): Promise<string> => {
    const { body } = await merchant.post('/api/v1/api-keys', { name: `Key to ${permission}`, permission });
    return text(record(body).key);
  })
  /** Creates a browser context with its own cookies. */
  .extend('context', async ({ browser, service }, { onCleanup }): Promise<BrowserContext> => {
    const context = await browser.newContext({ baseURL: service.url });
    onCleanup(() => context.close());
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  })
  .extend('page', ({ context }): Promise<Page> => context.newPage())
  /** Errors that the page reports, such as violations of the content policy. */
  .extend('complaints', ({ page }) => complaintsOf(page))
  /** Signs the page in with a key, by default the demo's own. */
  .extend('signIn', ({ page, service }) => async (key = text(service.demoKey)): Promise<void> => {
    await page.goto('/dashboard/sign-in?to=/dashboard/payments');
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Payments' }).waitFor();
  });
