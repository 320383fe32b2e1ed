import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Awaited, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Badge, Card, Facts } from '#pages/browser/layout.ts';
import { Ago, Moment } from '#pages/browser/moment.ts';
import { CopyButton, Reference } from '#pages/browser/reference.ts';
import { dashboard } from '../addresses.ts';
import { api, type Payments } from '../api.ts';
import { Amount } from '../chains.ts';
import { Choice, Days, Filters, givenFilters, givenPeriod, oneOfKeys } from '../filters.ts';
import { openPage } from '../frame.ts';
import { numberedList, pageQuery } from '../paging.ts';
import { EventDeliveries } from './deliveries.ts';
import { EVENT_NAMES, sessionOf } from './event-names.ts';

type EventRecord = Payments['EventRecord'];

const RENEW_MS = 5_000;

/** Page of events, the newest first. With an id in the URL, the page of one event. */
function EventsPage(): VNode {
  const id = givenFilters().get('id');
  return id === undefined ? h(AllEvents, {}) : h(OneEvent, { id });
}

function AllEvents(): VNode {
  const type = oneOfKeys('type', EVENT_NAMES);
  const filters = { ...(type && { type }), ...givenPeriod() };
  return html`
    <h1>Events</h1>
    ${h(Filters, {
      children: html`
        ${h(Choice, {
          name: 'type',
          label: 'Type',
          words: Object.entries(EVENT_NAMES).map(([type, [, text]]) => [type, text] as const),
        })}
        ${h(Days, {})}
      `,
    })}
    ${numberedList({
      label: 'Events',
      load: (page, signal) =>
        api.GET('/api/v1/events', { params: { query: { ...filters, ...pageQuery(page) } }, signal }),
      keyOf: ({ id }: EventRecord) => id,
      everyMs: RENEW_MS,
      empty:
        Object.keys(filters).length === 0
          ? 'No events in the last 90 days. An event is created when a payment or a checkout ends.'
          : 'No events match these filters.',
      columns: COLUMNS,
    })}
  `;
}

const COLUMNS = [
  { name: 'Event', cell: (event: EventRecord) => h(Name, { event }) },
  { name: 'Amount', cell: ({ data }: EventRecord) => h(Amount, { units: data.amount, of: data }) },
  {
    name: 'Payment',
    cell: (event: EventRecord) => h(OfPayment, { event }),
  },
  { name: 'Created', cell: ({ created_at }: EventRecord) => h(Ago, { at: created_at }) },
  {
    name: 'ID',
    cell: ({ id }: EventRecord) => h(Reference, { value: id, href: dashboard.event(id) }),
  },
];

function Name({ event }: { event: EventRecord }): VNode {
  const [tone, text] = EVENT_NAMES[event.event];
  return html`<a href=${dashboard.event(event.id)}>${h(Badge, { tone, children: text })}</a>`;
}

/** Link to the payment of an event. */
function OfPayment({ event }: { event: EventRecord }): VNode | null {
  const id = sessionOf(event);
  return id === undefined ? null : h(Reference, { value: id, href: dashboard.payment(id) });
}

function OneEvent({ id }: { id: string }): VNode {
  const event = useAnswer(
    signal => api.GET('/api/v1/events/{event_id}', { params: { path: { event_id: id } }, signal }),
    [id],
  );
  return html`
    <p><a href=${dashboard.events}>All events</a></p>
    ${h(Awaited<EventRecord>, { loading: event, children: record => h(EventDetails, { event: record }) })}
  `;
}

function EventDetails({ event }: { event: EventRecord }): VNode {
  const text = JSON.stringify(event, null, 2);
  return html`
    <div class="title">
      <h1>${EVENT_NAMES[event.event][1]}</h1>
      ${h(Reference, { value: event.id })}
    </div>
    ${h(Card, {
      children: html`
        ${h(Facts, {
          rows: [
            ['Type', html`<code>${event.event}</code>`],
            ['Created', h(Moment, { at: event.created_at })],
            ['Payment', h(OfPayment, { event })],
            ['Amount', h(Amount, { units: event.data.amount, of: event.data })],
          ],
        })}
        ${h(EventDeliveries, { eventId: event.id })}
      `,
    })}
    ${h(Card, {
      title: 'Event data',
      aside: h(CopyButton, { text, label: 'Copy event data' }),
      children: html`
      <pre tabindex="0">${text}</pre>
    `,
    })}
  `;
}

openPage('Events', EventsPage);
