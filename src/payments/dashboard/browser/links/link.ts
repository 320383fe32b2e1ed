import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Awaited, answerOf, useAnswer } from '#pages/browser/answer.ts';
import { DialogButton, StatusMessage } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { formEditor, NOTHING_CHANGED, versionOf } from '#pages/browser/form-editor.ts';
import { Card, Facts, type Tab, Tabs } from '#pages/browser/layout.ts';
import { Moment } from '#pages/browser/moment.ts';
import { CopyButton, Reference } from '#pages/browser/reference.ts';
import { setTitle } from '#pages/browser/show.ts';
import { METHOD_WORDS } from '#payments/browser/transfer-words.ts';
import { dashboard, shownId } from '../addresses.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { ChainName, type Chains, tokenAt, useChains } from '../chains.ts';
import { openPage } from '../frame.ts';
import { QrCode } from '../qr-code.ts';
import { useHasPermission } from '../signed-in.ts';
import { toleranceFact } from '../tolerance.ts';
import { bodyOf, draftOf, type LinkBody } from './draft.ts';
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
const LINK = '/api/v1/payment-links/{payment_link_id}';

/** Page of a payment link: its URL, its terms and its checkouts. */
function LinkPage(): VNode {
  const link = useAnswer(signal => api.GET(LINK, { params: { path }, signal }));
  const isNew = new URLSearchParams(location.search).has('created');
  const [said, setSaid] = useState(isNew ? 'The link is ready. Share its URL or its QR code.' : '');
  const onChanged = (text: string) => {
    setSaid(text);
    link.reload();
  };
  return html`
    <p class="small"><a href=${dashboard.links}>Links</a></p>
    ${h(Awaited<Link>, {
      loading: link,
      children: body => html`
        ${h(Head, { link: body, onChanged })}
        ${h(StatusMessage, { children: said })}
        ${h(Parts, { link: body, onChanged })}
      `,
    })}
  `;
}

function Head({ link, onChanged }: ShownLink): VNode {
  const mayWrite = useHasPermission('write');
  setTitle(link.name, 'Links');
  return html`<div class="title">
    <h1>${link.name} ${h(Availability, { link })}</h1>
    ${mayWrite && html`<div class="row">${h(Actions, { link, onChanged })}</div>`}
  </div>`;
}

function Actions({ link, onChanged }: ShownLink): VNode {
  const { is_active } = link;
  const header = { 'Idempotency-Key': idempotencyKey() };
  const turn = async () => {
    const body = { is_active: !is_active };
    await answerOf(api.PATCH(LINK, { params: { path, header }, body }));
    onChanged(is_active ? 'The link is deactivated.' : 'The link is active again.');
  };
  const duplicate = async () => {
    const operation = '/api/v1/payment-links/{payment_link_id}/duplicate';
    const { data } = await answerOf(api.POST(operation, { params: { path, header }, body: {} }));
    location.assign(`${dashboard.link(data.id)}?created`);
  };
  const remove = async () => {
    await answerOf(api.DELETE(LINK, { params: { path } }));
    location.assign(dashboard.links);
  };
  return html`
    ${h(DialogButton, {
      label: is_active ? 'Deactivate' : 'Activate',
      title: is_active ? 'Deactivate this link?' : 'Activate this link?',
      onConfirm: turn,
      children: html`
        <p>
          ${
            is_active
              ? 'No new checkouts can begin. Open checkouts can still be paid.'
              : 'Payers can begin checkouts again.'
          }
        </p>
      `,
    })}
    ${h(DialogButton, {
      label: 'Duplicate',
      title: 'Duplicate this link?',
      onConfirm: duplicate,
      children: html`
        <p>The new link has the same terms and its own URL.</p>
      `,
    })}
    ${h(DialogButton, {
      label: 'Delete',
      title: 'Delete this link?',
      tone: 'danger',
      onConfirm: remove,
      children: html`
        <p>Its URL stops working. This cannot be undone. Its payments are kept.</p>
      `,
    })}
  `;
}

function Parts(shown: ShownLink): VNode {
  const mayWrite = useHasPermission('write');
  const tabs: Tab[] = [
    { id: 'overview', label: 'Overview', content: () => h(Overview, { ...shown }) },
    ...(mayWrite ? [{ id: 'edit', label: 'Edit', content: () => h(Edit, { ...shown }) }] : []),
    { id: 'checkouts', label: 'Checkouts', content: () => h(LinkCheckouts, { id }) },
  ];
  return h(Tabs, { label: 'Parts of the link', tabs });
}

function Overview({ link }: ShownLink): VNode {
  const { url, max_uses, current_uses, reserve_uses, expires_at, metadata } = link;
  const notes = Object.entries(metadata);
  return html`<div class="grid">
    ${h(Card, {
      title: 'Share',
      children: html`
        <p>
          <a href=${url} target="_blank" rel="noopener noreferrer">${url}</a>
          ${h(CopyButton, { text: url, label: 'Copy URL' })}
        </p>
        ${h(QrCode, { text: url, label: `QR code of ${url}` })}
      `,
    })}
    ${h(Card, {
      title: 'Details',
      children: h(Facts, {
        rows: [
          ['Price', h(LinkPrice, { link })],
          toleranceFact(link.payment_tolerance),
          ['Chain', h(ChainName, { id: link.chain_id })],
          ['Recipient', h(Reference, { value: link.recipient_address })],
          ['Payment method', METHOD_WORDS[link.payment_method]],
          ['Payments', max_uses === null ? current_uses : `${current_uses} of ${max_uses}`],
          ['Reserved', reserve_uses && max_uses !== null && 'for ten minutes per buyer'],
          ['Expires', expires_at === null ? 'never' : h(Moment, { at: expires_at })],
          ['Description', link.description],
          ['Metadata', notes.length > 0 && notes.map(([key, value]) => html`<div>${key}: ${value}</div>`)],
          ['Created', h(Moment, { at: link.created_at })],
          ['Updated', h(Moment, { at: link.updated_at })],
          ['ID', h(Reference, { value: link.id, isWhole: true })],
        ],
      }),
    })}
    ${h(LinkStats, { id })}
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
  return h(Awaited<Payments['PaymentLinkStats']>, {
    loading: checkouts,
    children: ({ sessions }) =>
      h(EditForm, { link, chains, isDestinationFixed: sessions.total > 0, onChanged }),
  });
}

/**
 * Form with the terms at the time it was opened. It ignores later reloads of the link, which would count as typed
 * changes.
 */
function EditForm({
  link,
  chains,
  isDestinationFixed,
  onChanged,
}: ShownLink & { chains: Chains; isDestinationFixed: boolean }): VNode {
  const [initial] = useState(() => draftOf(link, chains));
  const bodyNow = (shown: Link) => bodyOf(draftOf(shown, chains), tokenAt(chains, shown) ?? { decimals: 0 });
  const [editor] = useState(() =>
    formEditor<LinkBody>({
      opened: bodyNow(link),
      read: async () => versionOf(await answerOf(api.GET(LINK, { params: { path } })), bodyNow),
      write: (body, etag) => {
        const params = { path, header: { 'Idempotency-Key': idempotencyKey(), 'If-Match': etag } };
        return answerOf(api.PATCH(LINK, { params, body }));
      },
    }),
  );
  const send = async (body: LinkBody) => {
    const isSaved = await editor.save(body);
    onChanged(isSaved ? 'The link is updated. Open checkouts keep their terms.' : NOTHING_CHANGED);
  };
  return h(LinkForm, { initial, chains, action: 'Save changes', isDestinationFixed, onSend: send });
}

openPage('Link', LinkPage);
