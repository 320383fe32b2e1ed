import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { answerOf } from '#pages/browser/answer.ts';
import { DialogButton } from '#pages/browser/changes.ts';
import { SelectField, TextField } from '#pages/browser/fields.ts';
import { Badge, Card } from '#pages/browser/layout.ts';
import { List } from '#pages/browser/list.ts';
import { Ago } from '#pages/browser/moment.ts';
import { CopyButton, Reference } from '#pages/browser/reference.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { ChainName, useChains } from '../chains.ts';
import { nextPage, pageQuery } from '../paging.ts';
import { useMay } from '../session.ts';

type Recipient = Payments['Recipient'];
type OnDone = (said: string) => void;

/** Addresses that receive the organization's payments, with the proof of ownership. */
export function Recipients({ isLocked, onDone }: { isLocked: boolean; onDone: OnDone }): VNode {
  const mayChange = useMay('admin');
  const [version, setVersion] = useState(0);
  const changed = (said: string) => {
    setVersion(version + 1);
    onDone(said);
  };
  return html`<${Card} title="Recipients" aside=${mayChange && html`<${AddRecipient} onDone=${changed} />`}>
    <p class="hint">
      ${
        isLocked
          ? 'Links and checkouts can name only these addresses.'
          : 'An address is added here when a link or a checkout names it.'
      }${' '}
      With several organizations on this service, prove that an address is yours: until then another one may claim it.
    </p>
    <${List}
      label="Recipients"
      inputs=${[version]}
      load=${(page: number | undefined, signal: AbortSignal) =>
        api.GET('/api/v1/recipients', { params: { query: pageQuery(page) }, signal })}
      pageOf=${nextPage}
      keyOf=${({ id }: Recipient) => id}
      empty="There is no recipient yet. Add the address that you want to be paid at."
      columns=${[
        { name: 'Address', cell: ({ address }: Recipient) => html`<${Reference} value=${address} />` },
        { name: 'Chain', cell: ({ chain_id }: Recipient) => html`<${ChainName} id=${chain_id} />` },
        { name: 'Ownership', cell: (one: Recipient) => html`<${Ownership} recipient=${one} />` },
        { name: 'Added', cell: ({ created_at }: Recipient) => html`<${Ago} at=${created_at} />` },
        ...(mayChange
          ? [
              {
                name: 'Actions',
                cell: (one: Recipient) => html`<span class="row">
                  ${!one.verified && html`<${Verify} recipient=${one} onDone=${changed} />`}
                  <${Remove} recipient=${one} onDone=${changed} />
                </span>`,
              },
            ]
          : []),
      ]}
    />
  <//>`;
}

function Ownership({ recipient: { verified_by } }: { recipient: Recipient }): VNode {
  if (verified_by === null) return html`<${Badge} tone="warning">Not proved<//>`;
  return html`<${Badge} tone="good">${verified_by === 'signature' ? 'Proved by signature' : 'Set by the operator'}<//>`;
}

function AddRecipient({ onDone }: { onDone: OnDone }): VNode {
  const chains = useChains() ?? [];
  const [chosen, setChosen] = useState('');
  const [address, setAddress] = useState('');
  const chainId = chosen || String(chains[0]?.id ?? '');
  const add = async () => {
    const body = { chain_id: Number(chainId), address: address.trim() };
    const params = { header: { 'Idempotency-Key': idempotencyKey() } };
    await answerOf(api.POST('/api/v1/recipients', { params, body }));
    setAddress('');
    onDone('The recipient is on the list.');
  };
  return html`<${DialogButton} label="Add recipient" title="Add a recipient" action="Add" onConfirm=${add}>
    <${SelectField}
      label="Chain"
      param="chain_id"
      value=${chainId}
      options=${chains.map(({ id, name }) => [String(id), name] as const)}
      onValue=${setChosen}
    />
    <${TextField}
      label="Address"
      param="address"
      value=${address}
      placeholder="0x…"
      isRequired=${true}
      onValue=${setAddress}
    />
  <//>`;
}

function Verify({ recipient, onDone }: { recipient: Recipient; onDone: OnDone }): VNode {
  const [signature, setSignature] = useState('');
  const { id, verification_message: message } = recipient;
  const verify = async () => {
    const params = { path: { recipient_id: id }, header: { 'Idempotency-Key': idempotencyKey() } };
    const body = { signature: signature.trim() };
    await answerOf(api.POST('/api/v1/recipients/{recipient_id}/verify', { params, body }));
    onDone('The address is proved to be yours.');
  };
  return html`<${DialogButton} label="Prove" title="Prove that this address is yours" action="Verify" onConfirm=${verify}>
    <p>
      Sign this text with <code>${recipient.address}</code>, for example with${' '}
      <code>cast wallet sign</code> or the signing page of your wallet.
      <${CopyButton} text=${message} label="Copy the text to sign" />
    </p>
    <pre tabindex="0">${message}</pre>
    <${TextField}
      label="Signature"
      param="signature"
      type="textarea"
      value=${signature}
      placeholder="0x…"
      isRequired=${true}
      onValue=${setSignature}
    />
  <//>`;
}

function Remove({ recipient, onDone }: { recipient: Recipient; onDone: OnDone }): VNode {
  const remove = async () => {
    const params = { path: { recipient_id: recipient.id } };
    await answerOf(api.DELETE('/api/v1/recipients/{recipient_id}', { params }));
    onDone('The recipient is removed.');
  };
  return html`<${DialogButton} label="Remove" title="Remove this recipient?" tone="danger" onConfirm=${remove}>
    <p>
      <code>${recipient.address}</code> leaves the list. Active links, open checkouts and unmatched transfers that name it
      have to be gone first.
    </p>
  <//>`;
}
