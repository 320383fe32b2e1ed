import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';
import { Ago } from '#pages/browser/moment.ts';
import { CopyButton } from '#pages/browser/reference.ts';
import { dashboard } from '../addresses.ts';
import { api, type Payments } from '../api.ts';
import { Choice, Filters, givenFilters, oneOf } from '../filters.ts';
import { openPage } from '../frame.ts';
import { numberedList, pageQuery } from '../paging.ts';
import { useHasPermission } from '../signed-in.ts';
import { Availability, LinkPrice } from './link-parts.ts';

type Link = Payments['PaymentLink'];

const STATES = [
  ['true', 'Activated'],
  ['false', 'Deactivated'],
] as const;

/** Page of all payment links, the newest first. */
function LinksPage(): VNode {
  const mayWrite = useHasPermission('write');
  return html`
    <div class="title">
      <h1>Links</h1>
      ${mayWrite && html`<a class="button primary" href=${dashboard.newLink}>New link</a>`}
    </div>
    ${h(Filters, {
      children: html`
        <label>Name <input type="search" name="search" value=${givenFilters().get('search')} /></label>
        ${h(Choice, { name: 'active', label: 'Status', words: STATES })}
      `,
    })}
    ${h(Card, { children: h(LinkList, {}) })}
  `;
}

function LinkList(): VNode {
  const search = givenFilters().get('search')?.trim();
  const active = oneOf('active', STATES);
  const filters = { ...(search && { search }), ...(active !== undefined && { active: active === 'true' }) };
  const isFiltered = Object.keys(filters).length > 0;
  return numberedList({
    label: 'Payment links',
    load: (page, signal) => {
      const query = { ...pageQuery(page), sort: 'created_at', order: 'desc', ...filters } as const;
      return api.GET('/api/v1/payment-links', { params: { query }, signal });
    },
    keyOf: ({ id }: Link) => id,
    empty: isFiltered
      ? 'No links match these filters.'
      : 'No links yet. Create one, and share its URL or its QR code with payers.',
    columns: [
      {
        name: 'Name',
        cell: ({ id, name }: Link) => html`<a class="clipped" href=${dashboard.link(id)}>${name}</a>`,
      },
      { name: 'Status', cell: (link: Link) => h(Availability, { link }) },
      {
        name: 'Price',
        isNumber: true,
        cell: (link: Link) => h(LinkPrice, { link }),
      },
      {
        name: 'Payments',
        isNumber: true,
        cell: ({ current_uses, max_uses }: Link) =>
          max_uses === null ? current_uses : `${current_uses} of ${max_uses}`,
      },
      {
        name: 'URL',
        cell: ({ short_code, url }: Link) => html`<span class="reference">
          <a href=${url} target="_blank" rel="noopener noreferrer"><code>${short_code}</code></a>
          ${h(CopyButton, { text: url, label: `Copy URL of ${short_code}` })}
        </span>`,
      },
      { name: 'Created', cell: ({ created_at }: Link) => h(Ago, { at: created_at }) },
    ],
  });
}

openPage('Links', LinksPage);
