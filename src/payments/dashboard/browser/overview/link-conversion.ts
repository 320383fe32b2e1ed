import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { countText, percentText } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';
import { dashboard } from '../addresses.ts';
import type { DashboardOverview } from '../api.ts';

type Links = DashboardOverview['links'];

/** Conversion rates of the most paid links: paid checkouts of all that ended. */
export function LinkConversion({ links }: { links: Links }): VNode {
  return h(Card, {
    title: 'Conversion of links',
    aside: html`<a href=${dashboard.links}>All links</a>`,
    children:
      links.length === 0
        ? html`<p class="small">No links yet. <a href=${dashboard.newLink}>Create one</a> and share it.</p>`
        : html`<ul class="plain stack">
          ${links.map(link => html`<li key=${link.id}>${h(OneLink, { link })}</li>`)}
        </ul>`,
  });
}

function OneLink({ link: { id, name, sessions } }: { link: Links[number] }): VNode {
  const { completed, expired, conversion_rate: rate } = sessions;
  return html`
    <a href=${dashboard.link(id)}>${name}</a>
    <meter min="0" max="1" value=${rate ?? 0} aria-label=${`Conversion of ${name}`}></meter>
    <p class="small">
      ${rate === null ? 'no checkout has ended yet' : `${percentText(rate)}: ${countText(completed)} of ${countText(completed + expired)} were paid`}
    </p>
  `;
}
