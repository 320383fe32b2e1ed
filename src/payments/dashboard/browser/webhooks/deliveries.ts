import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Awaited, answerOf, ProblemNotice, useAnswer } from '#pages/browser/answer.ts';
import { StatusMessage, useChange } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { SelectField } from '#pages/browser/fields.ts';
import { Card, Facts } from '#pages/browser/layout.ts';
import { Ago, Moment } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { Table } from '#pages/browser/table.ts';
import { dashboard } from '../addresses.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { numberedList, pageQuery } from '../paging.ts';
import { useHasPermission } from '../signed-in.ts';
import { DELIVERY_TYPES, DeliveryState } from './webhook-parts.ts';

type Delivery = Payments['WebhookDelivery'];
type Detail = Payments['WebhookDeliveryDetail'];

const RENEW_MS = 5_000;
const STATES: readonly (readonly ['' | Delivery['status'], string])[] = [
  ['', 'All'],
  ['failed', 'Failed'],
  ['pending', 'Pending'],
  ['success', 'Delivered'],
];
const ANY_TYPE = [['', 'All'], ...DELIVERY_TYPES] as const;

/** Deliveries of a webhook, the newest first. */
export function WebhookDeliveries({ webhookId }: { webhookId: string }): VNode {
  const [status, setStatus] = useState<'' | Delivery['status']>('');
  const [type, setType] = useState<'' | Delivery['event_type']>('');
  const filters = { ...(status !== '' && { status }), ...(type !== '' && { event_type: type }) };
  const isFiltered = Object.keys(filters).length > 0;
  return h(Card, {
    children: html`
      <div class="pair">
        ${h(SelectField<'' | Delivery['status']>, {
          label: 'Status',
          param: 'status',
          value: status,
          options: STATES,
          onValue: setStatus,
        })}
        ${h(SelectField<'' | Delivery['event_type']>, {
          label: 'Event',
          param: 'event_type',
          value: type,
          options: ANY_TYPE,
          onValue: setType,
        })}
      </div>
      ${numberedList({
        label: 'Deliveries',
        inputs: [status, type],
        everyMs: RENEW_MS,
        load: (page, signal) =>
          api.GET('/api/v1/webhooks/{webhook_id}/deliveries', {
            params: { path: { webhook_id: webhookId }, query: { ...pageQuery(page), ...filters } },
            signal,
          }),
        keyOf: ({ id }: Delivery) => id,
        empty: isFiltered
          ? 'No deliveries match these filters.'
          : 'No events sent yet. Send a test event, or wait for the first payment.',
        columns: [
          {
            name: 'Delivery',
            cell: ({ id }: Delivery) => h(Reference, { value: id, href: dashboard.delivery(webhookId, id) }),
          },
          {
            name: 'Event',
            cell: (one: Delivery) => html`<code>${one.event_type}</code>${one.is_test && ' (test)'}`,
          },
          { name: 'Status', cell: (one: Delivery) => h(DeliveryState, { delivery: one }) },
          { name: 'Response', isNumber: true, cell: (one: Delivery) => one.response_code ?? 'none' },
          { name: 'Attempts', isNumber: true, cell: (one: Delivery) => one.attempts },
          {
            name: 'Next retry',
            cell: ({ next_attempt_at: at }: Delivery) => (at === null ? '' : h(Ago, { at })),
          },
          { name: 'Created', cell: ({ created_at }: Delivery) => h(Ago, { at: created_at }) },
        ],
      })}
    `,
  });
}

/** One delivery: its request, and the receiver's answer. */
export function DeliveryPart({ webhookId, id }: { webhookId: string; id: string }): VNode {
  const mayChange = useHasPermission('admin');
  const path = { webhook_id: webhookId, delivery_id: id };
  const delivery = useAnswer(
    signal => api.GET('/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}', { params: { path }, signal }),
    [id],
    { everyMs: RENEW_MS },
  );
  const change = useChange();
  const [said, setSaid] = useState('');
  const retry = () =>
    change.run(async () => {
      const params = { path, header: { 'Idempotency-Key': idempotencyKey() } };
      const operation = '/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/retry';
      const { data } = await answerOf(api.POST(operation, { params }));
      const { success, response_code: code } = data.data;
      const outcome = code === null ? 'did not respond' : `responded ${code}`;
      setSaid(`${success ? 'Delivered' : 'Failed again'}: the receiver ${outcome}.`);
      delivery.reload();
    });
  return html`
    <p class="small"><a href=${dashboard.webhook(webhookId)}>All deliveries</a></p>
    ${h(Awaited<{ data: Detail }>, {
      loading: delivery,
      children: ({ data }) => html`
        ${h(Card, {
          title: html`Delivery of <code>${data.event_type}</code>`,
          aside:
            mayChange &&
            data.status === 'failed' &&
            html`<button type="button" disabled=${change.isBusy} onClick=${retry}>Retry now</button>`,
          children: html`
            ${h(StatusMessage, { children: said })}
            ${change.problem !== undefined && h(ProblemNotice, { problem: change.problem })}
            ${h(DeliveryFacts, { delivery: data })}
          `,
        })}
        ${h(Attempts, { delivery: data })}
        ${h(Request, { delivery: data })}
      `,
    })}
  `;
}

function DeliveryFacts({ delivery }: { delivery: Detail }): VNode {
  const { response_code: code, response_time_ms: ms, next_attempt_at: next, is_test } = delivery;
  const event = h(Reference, {
    value: delivery.event_id,
    isWhole: true,
    href: is_test ? undefined : dashboard.event(delivery.event_id),
  });
  return h(Facts, {
    rows: [
      ['Status', h(DeliveryState, { delivery })],
      ['Response', code === null ? 'none' : `${code}, after ${ms ?? 0} ms`],
      ['Error', delivery.last_error],
      ['Attempts', delivery.attempts],
      ['Next retry', next === null ? 'no automatic retry' : h(Moment, { at: next })],
      ['Event', event],
      ['Created', h(Moment, { at: delivery.created_at })],
      ['ID', h(Reference, { value: delivery.id, isWhole: true })],
    ],
  });
}

/** Attempts that have ended, the latest first, with the receiver's answers where they are kept. */
function Attempts({ delivery }: { delivery: Detail }): VNode | null {
  const results = delivery.attempt_results.toReversed();
  if (results.length === 0) return null;
  return h(Card, {
    title: 'Attempts',
    children: h(Table<Payments['DeliveryAttempt']>, {
      label: 'Attempts',
      items: results,
      keyOf: ({ attempt }) => String(attempt),
      columns: [
        { name: 'Attempt', isNumber: true, cell: ({ attempt }) => attempt },
        { name: 'Ended', cell: ({ ended_at: at }) => h(Moment, { at }) },
        { name: 'Response', isNumber: true, cell: ({ response_code: code }) => code ?? 'none' },
        {
          name: 'Time',
          isNumber: true,
          cell: ({ response_time_ms: ms }) => (ms === null ? '' : `${ms} ms`),
        },
        { name: 'Error', cell: ({ error }) => error },
        {
          name: 'Answer',
          cell: ({ response_body: body }) =>
            body !== null &&
            html`<details>
              <summary>${body.length === 0 ? 'Empty' : 'Show'}</summary>
              <pre tabindex="0">${body}</pre>
            </details>`,
        },
      ],
    }),
  });
}

function Request({ delivery }: { delivery: Detail }): VNode {
  const headers = Object.entries(delivery.request_headers).map(([name, value]) => `${name}: ${value}`);
  return h(Card, {
    title: 'Request',
    children: html`
    <h3>Headers</h3>
    <pre tabindex="0">${headers.join('\n')}</pre>
    <p class="hint">
      Each attempt also has its time and its signatures: <code>X-Service-Signature</code>,${' '}
      <code>X-Service-Timestamp</code>, <code>webhook-timestamp</code> and <code>webhook-signature</code>.
    </p>
    <h3>Body</h3>
    <pre tabindex="0">${indented(delivery.request_body)}</pre>
    <p class="hint">The body is indented here. The signature covers the bytes as they arrive.</p>
  `,
  });
}

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
