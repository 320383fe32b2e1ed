import type Router from '@koa/router';
import { appPage } from '#pages/app-page.ts';
import type { Assets } from '#pages/assets.ts';

// Patterns, because the router matches string paths in any letter case and with a trailing slash.
const PAGES: readonly (readonly [path: RegExp, title: string, module: string])[] = [
  [/^\/dashboard\/?$/, 'Overview', 'overview/overview.ts'],
  [/^\/dashboard\/sign-in$/, 'Sign in', 'people/sign-in.ts'],
  [/^\/dashboard\/payments$/, 'Payments', 'payments/payments.ts'],
  [/^\/dashboard\/payments\/[^/]+$/, 'Payment', 'payments/payment.ts'],
  [/^\/dashboard\/events$/, 'Events', 'events/events.ts'],
  [/^\/dashboard\/unmatched$/, 'Unmatched transfers', 'payments/unmatched.ts'],
  [/^\/dashboard\/totals$/, 'Totals', 'payments/totals.ts'],
  [/^\/dashboard\/refunds$/, 'Refunds', 'refunds/refunds.ts'],
  [/^\/dashboard\/refunds\/new$/, 'Refund', 'refunds/new-refund.ts'],
  [/^\/dashboard\/refunds\/re_\w+$/, 'Refund', 'refunds/refund.ts'],
  [/^\/dashboard\/deposit-addresses$/, 'Deposit addresses', 'deposits/deposits.ts'],
  [/^\/dashboard\/customers$/, 'Customers', 'customers/customers.ts'],
  [/^\/dashboard\/customers\/cust_\w+$/, 'Customer', 'customers/customer.ts'],
  [/^\/dashboard\/links$/, 'Links', 'links/links.ts'],
  [/^\/dashboard\/links\/new$/, 'New link', 'links/new-link.ts'],
  [/^\/dashboard\/links\/pl_\w+$/, 'Link', 'links/link.ts'],
  [/^\/dashboard\/webhooks$/, 'Webhooks', 'webhooks/webhooks.ts'],
  [/^\/dashboard\/webhooks\/wh_\w+$/, 'Webhook', 'webhooks/webhook.ts'],
  [/^\/dashboard\/keys$/, 'Keys', 'settings/keys.ts'],
  [/^\/dashboard\/audit-log$/, 'Audit log', 'settings/audit-log.ts'],
  [/^\/dashboard\/notifications$/, 'Notifications', 'settings/notifications.ts'],
  [/^\/dashboard\/organization$/, 'Organization', 'settings/organization.ts'],
  [/^\/dashboard\/people$/, 'People', 'people/people.ts'],
  [/^\/dashboard\/account$/, 'Your account', 'people/account.ts'],
];

/** Every path below `/dashboard` without a page. Operations are excluded, because the router comes before them. */
const REST =
  /^\/dashboard\/(?!(?:overview|qr-code)$|sign-in-mails$|passkey-challenges$|(?:api|session|sessions|members|passkeys)(?:\/|$))/;

/**
 * Registers the pages of the dashboard. A page is the same document for every reader and contains no data, so it needs
 * no session: its module calls the API with the browser's session. An unknown path gets a "not found" page with status
 * 404.
 */
export function dashboardPages(router: Router, assets: Assets): void {
  const pageOf = (title: string, module: string) => ({
    title: `${title} · tollgate`,
    module: `#payments/dashboard/browser/${module}`,
  });
  for (const [path, title, module] of PAGES) router.all(path, appPage(assets, pageOf(title, module)));
  router.all(REST, appPage(assets, { ...pageOf('Not found', 'missing.ts'), status: 404 }));
}
