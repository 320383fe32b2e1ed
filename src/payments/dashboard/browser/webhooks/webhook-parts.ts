import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useContext, useId } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import { CheckField, Refusals } from '#pages/browser/fields.ts';
import { Badge, type Tone } from '#pages/browser/layout.ts';
import { besideField } from '#pages/browser/problem.ts';
import type { Payments } from '../api.ts';

type Webhook = Payments['Webhook'];
type Subscription = Payments['Subscription'];

const TYPES: readonly (readonly [Payments['EventType'], string])[] = [
  ['payment.completed', 'a payment was confirmed'],
  ['payment.failed', 'a payment failed'],
  ['checkout.completed', 'a checkout was paid in full'],
  ['checkout.expired', 'a checkout ended unpaid'],
  ['transfer.unmatched', 'a transfer matches no checkout'],
  ['checkout.paid_late', 'a payment came after the end of its checkout'],
  ['checkout.overpaid', 'a checkout was paid too much or twice'],
  ['checkout.partially_paid', 'a checkout ended paid in part'],
  ['refund.created', 'a refund was requested'],
  ['refund.completed', 'a refund was paid out'],
  ['refund.failed', 'a refund failed or was cancelled'],
  ['sweep.completed', 'a deposit address was swept'],
];

/** Types of deliveries to choose from. Only tests send `test.ping`. */
export const DELIVERY_TYPES: readonly (readonly [Payments['DeliveryEventType'], string])[] = [
  ['test.ping', 'test.ping'],
  ...TYPES.map(([type]) => [type, type] as const),
];

/** State of a webhook, with the reason if it is disabled. */
export function WebhookState({
  webhook,
}: {
  webhook: Pick<Webhook, 'is_active' | 'disabled_reason'>;
}): VNode {
  const { is_active, disabled_reason } = webhook;
  if (is_active) return h(Badge, { tone: 'good', children: 'Active' });
  if (disabled_reason === null) return h(Badge, { children: 'Disabled' });
  return h(Badge, { tone: 'bad', children: 'Disabled after failures' });
}

const DELIVERY_STATES: Readonly<Record<Payments['DeliveryStatus'], readonly [Tone, string]>> = {
  success: ['good', 'Delivered'],
  failed: ['bad', 'Failed'],
  pending: ['busy', 'Pending'],
};

const RETRYING = ['warning', 'Retrying'] as const;

/** Status of a delivery. */
export function DeliveryState({ delivery }: { delivery: Payments['WebhookDelivery'] }): VNode {
  const isRetried = delivery.status === 'failed' && !delivery.is_final;
  const [tone, text] = isRetried ? RETRYING : DELIVERY_STATES[delivery.status];
  return h(Badge, { tone, children: text });
}

/** Setting that keeps the answers of the receiver. */
export function StoreResponsesField({
  isChecked,
  onChecked,
}: {
  isChecked: boolean;
  onChecked: (isChecked: boolean) => void;
}): VNode {
  return h(CheckField, {
    label: 'Keep the first 2 kB of each response, to debug the receiver',
    isChecked,
    onChecked,
  });
}

/** Event subscription of a webhook: all events, or selected types. */
export function EventsField({
  events,
  onEvents,
}: {
  events: readonly Subscription[];
  onEvents: (events: readonly Subscription[]) => void;
}): VNode {
  const refused = useContext(Refusals).find(({ param }) => param?.startsWith('events'));
  const id = useId();
  const isAll = events.includes('*');
  const turn = (type: Subscription, isOn: boolean) =>
    onEvents(isOn ? [...events, type] : events.filter(one => one !== type));
  return html`<fieldset class="part" aria-describedby=${id}>
    <legend>Events</legend>
    ${h(CheckField, {
      label: 'All events, including future types',
      isChecked: isAll,
      onChecked: (isOn: boolean) => onEvents(isOn ? ['*'] : TYPES.map(([type]) => type)),
    })}
    ${
      !isAll &&
      TYPES.map(([type, text]) =>
        h(CheckField, {
          key: type,
          label: html`<code>${type}</code> ${text}`,
          isChecked: events.includes(type),
          onChecked: (isOn: boolean) => turn(type, isOn),
        }),
      )
    }
    <p class="field-error" id=${id} hidden=${refused === undefined}>${refused && besideField(refused)}</p>
  </fieldset>`;
}
