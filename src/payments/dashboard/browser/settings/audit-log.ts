import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { Moment } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { api, type Payments } from '../api.ts';
import { ActorName } from '../decisions.ts';
import { Days, Filters, givenFilters, givenPeriod } from '../filters.ts';
import { openPage } from '../frame.ts';
import { numberedList, pageQuery } from '../paging.ts';

type AuditEvent = Payments['AuditEvent'];

/** Filters that are sent as they are. */
const NAMES = ['type', 'resource_id', 'actor'] as const;

/** Page with the changes of the last 90 days: who, what, when, from where. */
function AuditLog(): VNode {
  const given = givenFilters();
  const named = Object.fromEntries(NAMES.flatMap(name => (given.has(name) ? [[name, given.get(name)]] : [])));
  const filters = { ...named, ...givenPeriod() };
  return html`
    <h1>Audit log</h1>
    <p class="hint">Who changed what in the last 90 days, by key or in the dashboard.</p>
    ${h(Filters, {
      children: html`
        <label>Change <input type="search" name="type" value=${given.get('type')} placeholder="payment_link.create" /></label>
        <label>Record <input type="search" name="resource_id" value=${given.get('resource_id')} placeholder="ID" /></label>
        ${h(Days, {})}
      `,
    })}
    ${numberedList({
      label: 'Audit log',
      load: (page, signal) =>
        api.GET('/api/v1/audit-events', { params: { query: { ...filters, ...pageQuery(page) } }, signal }),
      keyOf: ({ id }: AuditEvent) => id,
      empty: Object.keys(filters).length === 0 ? 'No changes yet.' : 'No changes match these filters.',
      columns: COLUMNS,
    })}
  `;
}

const COLUMNS = [
  { name: 'Time', cell: ({ created_at }: AuditEvent) => h(Moment, { at: created_at }) },
  { name: 'Change', cell: ({ type }: AuditEvent) => changeText(type) },
  {
    name: 'Record',
    cell: ({ resource_id: id }: AuditEvent) => (id === null ? '–' : h(Reference, { value: id })),
  },
  {
    name: 'By',
    cell: ({ actor }: AuditEvent) =>
      html`<a href=${`?${new URLSearchParams({ actor })}`}>${h(ActorName, { actor })}</a>`,
  },
  {
    name: 'From',
    cell: ({ address }: AuditEvent) => (address === null ? '–' : html`<code>${address}</code>`),
  },
];

/** `payment_link.create` as "Payment link: create". */
function changeText(type: string): string {
  const [resource = '', action = ''] = type.replaceAll('_', ' ').split('.');
  return `${resource.charAt(0).toUpperCase()}${resource.slice(1)}: ${action}`;
}

openPage('Audit log', AuditLog);
