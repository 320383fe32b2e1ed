import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Awaited, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { setTitle, show } from '#pages/browser/show.ts';
import { AccountMenu } from './account-menu.ts';
import { dashboard, hasToken } from './addresses.ts';
import { api, askSignIn, type Payments, type SignIn } from './api.ts';
import { ChainsProvider } from './chains.ts';
import { AnotherSession } from './session/another-session.ts';
import { SignInProvider, useSignIn } from './signed-in.ts';

/**
 * Pages of the dashboard. A page with a permission is hidden from members without it, because it would be empty for them.
 */
const PAGES: readonly (readonly [address: string, name: string, needed?: Payments['Permission']])[] = [
  [dashboard.overview, 'Overview'],
  [dashboard.payments, 'Payments'],
  [dashboard.customers, 'Customers'],
  [dashboard.links, 'Links'],
  [dashboard.unmatched, 'Unmatched transfers'],
  [dashboard.refunds, 'Refunds'],
  [dashboard.totals, 'Totals'],
  [dashboard.deposits, 'Deposit addresses'],
  [dashboard.events, 'Events'],
  [dashboard.webhooks, 'Webhooks'],
  [dashboard.keys, 'Keys', 'admin'],
  [dashboard.people, 'People'],
  [dashboard.notifications, 'Notifications'],
  [dashboard.organization, 'Organization'],
  [dashboard.auditLog, 'Audit log', 'admin'],
];

/** Long interval, because a chain's lateness seldom changes. */
const CHAINS_RENEW_MS = 30_000;

/**
 * Shows a page with the dashboard's header and navigation. A browser that is not signed in does so first. `hasChains` is
 * true for a page that asks for the chains itself.
 */
export function openPage(title: string, Page: () => VNode, { hasChains = false } = {}): void {
  if (hasToken()) {
    location.replace(`${dashboard.signIn()}${location.hash}`);
    return;
  }
  setTitle(title);
  // Going back after signing out would show the cached page.
  addEventListener('pageshow', event => event.persisted && location.reload());
  show(() => {
    const signIn = useAnswer(askSignIn, []);
    return h(Awaited<SignIn>, {
      loading: signIn,
      children: signed => h(SignInProvider, { value: signed, children: h(Frame, { Page, hasChains }) }),
    });
  });
}

function Frame({ Page, hasChains }: { Page: () => VNode; hasChains: boolean }): VNode {
  const { permissions } = useSignIn();
  const path = location.pathname;
  const isOpen = (address: string) =>
    path === address || (address !== dashboard.overview && path.startsWith(`${address}/`));
  return html`
    <a class="skip" href="#content">Skip to the content</a>
    <header class="top">
      <a class="brand" href=${dashboard.overview}>tollgate</a>
      ${h(AccountMenu, {})}
    </header>
    <nav class="tabs pages" aria-label="Dashboard" ref=${showOpenPage}>
      ${PAGES.filter(([, , needed = 'read']) => permissions.includes(needed)).map(
        ([address, name]) =>
          html`<a href=${address} aria-current=${isOpen(address) ? 'page' : undefined}>${name}</a>`,
      )}
    </nav>
    <main id="content" tabindex="-1">
      ${hasChains ? h(Page, {}) : h(WithChains, { Page })}
    </main>
    <footer class="foot">
      <a href="/docs">Reference</a>
      <a href="/openapi.json">OpenAPI description</a>
    </footer>
    ${h(AnotherSession, {})}
  `;
}

function WithChains({ Page }: { Page: () => VNode }): VNode {
  const chains = useAnswer(signal => api.GET('/api/v1/chains', { signal }), [], { everyMs: CHAINS_RENEW_MS });
  return h(ChainsProvider, { value: chains.answer?.data.data, children: h(Page, {}) });
}

/** Scrolls the navigation to the open page when not all names fit. */
function showOpenPage(nav: HTMLElement | null): void {
  nav?.querySelector('[aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' });
}
