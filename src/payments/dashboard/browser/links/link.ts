import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Awaited, answerOf, useAnswer } from '#pages/browser/answer.ts';
import { DialogButton, Said } from '#pages/browser/changes.ts';
import { Card, Facts, type Tab, Tabs } from '#pages/browser/layout.ts';
import { Moment } from '#pages/browser/moment.ts';
import { CopyButton, Reference } from '#pages/browser/reference.ts';
import { entitle } from '#pages/browser/show.ts';
import { dashboard, shownId } from '../addresses.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { ChainName, type Chains, tokenAt, useChains } from '../chains.ts';
import { openPage } from '../frame.ts';
import { QrCode } from '../qr-code.ts';
import { useMay } from '../session.ts';
import { bodyOf, changesOf, draftOf, type LinkBody } from './draft.ts';
import { LinkCheckouts, LinkStats } from './link-activity.ts';
import { LinkForm } from './link-form.ts';
import { Availability, LinkPrice } from './link-parts.ts';

type Link = Payments['PaymentLink'];

interface ShownLink {
  readonly link: Link;
  readonly onChanged: (said: string) => void;
}

const id = shownId();
const path = { payment_link_id: id };

/** Page of a payment link: its URL, its terms and its checkouts. */
function LinkPage(): VNode {
  const link = useAnswer(signal =>
    api.GET('/api/v1/payment-links/{payment_link_id}', { params: { path }, signal }),
  );
  const isNew = new URLSearchParams(location.search).has('created');
  const [said, setSaid] = useState(isNew ? 'The link is ready. Share its address or its QR code.' : '');
  const onChanged = (text: string) => {
    setSaid(text);
    link.reload();
  };
  return html`
    <p class="small"><a href=${dashboard.links}>Links</a></p>
    <${Awaited} loading=${link}>
      ${(body: Link) => html`
        <${Head} link=${body} onChanged=${onChanged} />
        <${Said}>${said}<//>
        <${Parts} link=${body} onChanged=${onChanged} />
      `}
    <//>
  `;
}

function Head({ link, onChanged }: ShownLink): VNode {
  const mayWrite = useMay('write');
  entitle(link.name, 'Links');
  return html`<div class="title">
    <h1>${link.name} <${Availability} link=${link} /></h1>
    ${mayWrite && html`<div class="row"><${Actions} link=${link} onChanged=${onChanged} /></div>`}
  </div>`;
}

function Actions({ link, onChanged }: ShownLink): VNode {
  const { is_active } = link;
  const header = { 'Idempotency-Key': idempotencyKey() };
  const turn = async () => {
    const body = { is_active: !is_active };
    const operation = '/api/v1/payment-links/{payment_link_id}';
    await answerOf(api.PATCH(operation, { params: { path, header }, body }));
    onChanged(is_active ? 'The link is switched off.' : 'The link is switched on.');
  };
  const duplicate = async () => {
    const operation = '/api/v1/payment-links/{payment_link_id}/duplicate';
    const { data } = await answerOf(api.POST(operation, { params: { path, header }, body: {} }));
    location.assign(`${dashboard.link(data.id)}?created`);
  };
  const remove = async () => {
    await answerOf(api.DELETE('/api/v1/payment-links/{payment_link_id}', { params: { path } }));
    location.assign(dashboard.links);
  };
  return html`
    <${DialogButton}
      label=${is_active ? 'Switch off' : 'Switch on'}
      title=${is_active ? 'Switch this link off?' : 'Switch this link on?'}
      onConfirm=${turn}
    >
      <p>
        ${
          is_active
            ? 'No new checkout begins. Checkouts that are open can still be paid.'
            : 'Payers can begin checkouts again.'
        }
      </p>
    <//>
    <${DialogButton} label="Duplicate" title="Duplicate this link?" onConfirm=${duplicate}>
      <p>A new link has the same terms and an address of its own.</p>
    <//>
    <${DialogButton} label="Delete" title="Delete this link?" tone="danger" onConfirm=${remove}>
      <p>Its address stops working for good. Payments that came through it stay.</p>
    <//>
  `;
}

function Parts(shown: ShownLink): VNode {
  const mayWrite = useMay('write');
  const tabs: Tab[] = [
    { id: 'overview', label: 'Overview', content: () => html`<${Overview} ...${shown} />` },
    ...(mayWrite ? [{ id: 'edit', label: 'Edit', content: () => html`<${Edit} ...${shown} />` }] : []),
    { id: 'checkouts', label: 'Checkouts', content: () => html`<${LinkCheckouts} id=${id} />` },
  ];
  return html`<${Tabs} label="Parts of the link" tabs=${tabs} />`;
}

function Overview({ link }: ShownLink): VNode {
  const { url, max_uses, current_uses, expires_at, metadata } = link;
  const notes = Object.entries(metadata);
  return html`<div class="grid">
    <${Card} title="Share">
      <p>
        <a href=${url} target="_blank" rel="noopener noreferrer">${url}</a>
        <${CopyButton} text=${url} label="Copy the address" />
      </p>
      <${QrCode} text=${url} label=${`QR code of ${url}`} />
    <//>
    <${Card} title="Terms">
      <${Facts}
        rows=${[
          ['Price', html`<${LinkPrice} link=${link} />`],
          ['Chain', html`<${ChainName} id=${link.chain_id} />`],
          ['Recipient', html`<${Reference} value=${link.recipient_address} />`],
          ['Paid', max_uses === null ? `${current_uses} times` : `${current_uses} of ${max_uses} times`],
          ['Ends', expires_at === null ? 'never' : html`<${Moment} at=${expires_at} />`],
          ['Description', link.description],
          ['Notes', notes.length > 0 && notes.map(([key, value]) => html`<div>${key}: ${value}</div>`)],
          ['Created', html`<${Moment} at=${link.created_at} />`],
          ['Changed', html`<${Moment} at=${link.updated_at} />`],
          ['Id', html`<${Reference} value=${link.id} isWhole=${true} />`],
        ]}
      />
    <//>
    <${LinkStats} id=${id} />
  </div>`;
}

function Edit({ link, onChanged }: ShownLink): VNode | null {
  const chains = useChains();
  const checkouts = useAnswer(signal =>
    api.GET('/api/v1/payment-links/{payment_link_id}/stats', {
      params: { path, query: { period: 'all' } },
      signal,
    }),
  );
  if (chains === undefined) return null;
  return html`<${Awaited} loading=${checkouts}>
    ${({ sessions }: Payments['PaymentLinkStats']) => html`<${EditForm}
      link=${link}
      chains=${chains}
      isPlaceFixed=${sessions.total > 0}
      onChanged=${onChanged}
    />`}
  <//>`;
}

/**
 * Form with the terms at the time it was opened. It ignores later reloads of the link, which would count as typed
 * changes.
 */
function EditForm({
  link,
  chains,
  isPlaceFixed,
  onChanged,
}: ShownLink & { chains: Chains; isPlaceFixed: boolean }): VNode {
  const [initial] = useState(() => draftOf(link, chains));
  const [before, setBefore] = useState(() => bodyOf(initial, tokenAt(chains, link) ?? { decimals: 0 }));
  const send = async (body: LinkBody) => {
    const changes = changesOf(before, body);
    if (Object.keys(changes).length === 0) return onChanged('There was nothing to change.');
    const params = { path, header: { 'Idempotency-Key': idempotencyKey() } };
    await answerOf(api.PATCH('/api/v1/payment-links/{payment_link_id}', { params, body: changes }));
    setBefore(body);
    onChanged('The link is changed. Checkouts that are open keep their terms.');
  };
  return html`<${LinkForm}
    initial=${initial}
    chains=${chains}
    action="Save changes"
    isPlaceFixed=${isPlaceFixed}
    onSend=${send}
  />`;
}

openPage('Link', LinkPage);
