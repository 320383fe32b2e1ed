import type { BrowserContext, Page } from 'playwright-core';
import type { DatabaseOptions } from '#db/open.ts';
import { type DemoRole, demoSignIn } from '../lab/dashboard-session.ts';
import { text } from '../lab/json.ts';
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
  /** Signs the page in as a member with a role, by default as an owner. */
  .extend('signIn', ({ page, service }) => async (role: DemoRole = 'owner'): Promise<void> => {
    await page.goto(`/dashboard/sign-in?to=/dashboard/payments#token=${await demoSignIn(service, role)}`);
    await page.getByRole('heading', { name: 'Payments' }).waitFor();
  });
