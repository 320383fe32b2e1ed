import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { Awaited, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';
import { dashboard } from '../addresses.ts';
import { api, type Payments } from '../api.ts';

type Link = Payments['PaymentLink'];
type Period = Payments['PaymentLinkStats']['period'];

/** Only a few, because each link's figures need their own request. */
const MAX_USED = { page: 1, limit: 5, sort: 'current_uses', order: 'desc' } as const;

/** Conversion rates of the most paid links: paid checkouts of all that ended. */
export function LinkConversion({ period }: { period: Period }): VNode {
  const links = useAnswer(signal =>
    api.GET('/api/v1/payment-links', { params: { query: MAX_USED }, signal }),
  );
  return h(Card, {
    title: 'Conversion of links',
    aside: html`<a href=${dashboard.links}>All links</a>`,
    children: h(Awaited<Payments['PaymentLinkList']>, {
      loading: links,
      children: ({ data }) =>
        data.length === 0
          ? html`<p class="small">No links yet. <a href=${dashboard.newLink}>Create one</a> and share it.</p>`
          : html`<ul class="plain stack">
            ${data.map(link => html`<li key=${link.id}>${h(OneLink, { link, period })}</li>`)}
          </ul>`,
    }),
  });
}

function OneLink({ link, period }: { link: Link; period: Period }): VNode {
  const stats = useAnswer(
    signal =>
      api.GET('/api/v1/payment-links/{payment_link_id}/stats', {
        params: { path: { payment_link_id: link.id }, query: { period } },
        signal,
      }),
    [link.id, period],
  );
  return html`
    <a href=${dashboard.link(link.id)}>${link.name}</a>
    ${h(Awaited<Payments['PaymentLinkStats']>, {
      loading: stats,
      children: ({ sessions }) => {
        const { completed, expired, conversion_rate: rate } = sessions;
        return html`
          <meter min="0" max="1" value=${rate ?? 0} aria-label=${`Conversion of ${link.name}`}></meter>
          <p class="small">
            ${rate === null ? 'no checkout has ended yet' : `${(rate * 100).toFixed(1)} %: ${grouped(completed)} of ${grouped(completed + expired)} were paid`}
          </p>
        `;
      },
    })}
  `;
}
