import type Router from '@koa/router';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { appPage, prefersPage } from '#pages/app-page.ts';
import type { Assets } from '#pages/assets.ts';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';

/**
 * Registers `GET /`, which no operation has: a page for people that leads on. Programs get a 404, as for every path that
 * nothing answers (Decision 432).
 */
export function homePage(router: Router, { assets, title }: { assets: Assets; title: string }): void {
  const page = appPage(assets, { title, content: content() });
  router.all(/^\/$/, async (ctx, next) => {
    ctx.vary('Accept');
    await (prefersPage(ctx) ? page(ctx) : next());
  });
}

function content(): VNode {
  return html`
    <a class="skip" href="#content">Skip to the content</a>
    <header class="top"><a class="brand" href="/">tollgate</a></header>
    <main id="content" tabindex="-1">
      <section class="hero">
        <h1>Payments</h1>
        <p>
          This server runs tollgate: payment links and checkouts, whose money goes straight from the payer’s wallet to the
          merchant. To pay, open the address that the merchant gave you.
        </p>
      </section>
      <div class="grid">
        ${h(Card, {
          title: 'For merchants',
          children: html`
            <p>Payments, links, refunds and webhooks.</p>
            <p><a class="button primary" href="/dashboard">Dashboard</a></p>
          `,
        })}
        ${h(Card, {
          title: 'For developers',
          children: html`
            <p>Every operation of the API, with a form to try it.</p>
            <p><a class="button" href="/docs">API reference</a></p>
          `,
        })}
      </div>
    </main>
  `;
}
