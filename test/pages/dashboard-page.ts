import type { BrowserContext, Page } from 'playwright-core';
import { type DatabaseOptions, openDatabase } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { newId } from '#lib/ids.ts';
import { ownerAddress } from '#payments/members/owner-address.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { type DemoRole, demoSignIn } from '../lab/dashboard-session.ts';
import { text } from '../lab/json.ts';
import { startTestPayments, type TestPaymentsService } from '../lab/payments-service.ts';
import { briskClock } from '../support/brisk-clock.ts';
import { complaintsOf, test as withBrowser } from '../support/browser.ts';
import { sqliteDatabase } from '../support/databases.ts';
import { type ApiClient, apiClient } from '../support/payments-api.ts';

const RIVAL = 'Rival Records';

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
    return context;
  })
  .extend('page', ({ context }): Promise<Page> => context.newPage())
  /** Errors that the page reports, such as violations of the content policy. */
  .extend('complaints', ({ page }) => complaintsOf(page))
  /** Token of a one-time address of the owner of another organization, Rival Records. */
  .extend('rivalToken', async ({ database }): Promise<string> => {
    const db = openDatabase(database);
    const createdAt = briskClock.now();
    const defaults = { chainId: null, tokenAddress: null, recipientAddress: null };
    const { token } = await transaction(db, async handle => {
      const rival = { id: newId('org'), name: RIVAL, tier: 'standard', defaults, createdAt } as const;
      const store = organizationStore(handle);
      const known = await store.findByName(RIVAL);
      if (known === undefined) await store.insert(rival);
      return ownerAddress(handle, { organizationId: (known ?? rival).id }, createdAt);
    });
    await db.destroy();
    return token;
  })
  /** Signs the page in as a member with a role, by default as an owner. */
  .extend('signIn', ({ page, service }) => async (role: DemoRole = 'owner'): Promise<void> => {
    await page.goto(`/dashboard/sign-in?to=/dashboard/payments#token=${await demoSignIn(service, role)}`);
    const heading = page.getByRole('heading', { name: 'Payments' });
    const question = page.getByRole('button', { name: 'Sign in by the link' });
    await heading.or(question).waitFor();
    if (await question.isVisible()) await question.click();
    await heading.waitFor();
  });
