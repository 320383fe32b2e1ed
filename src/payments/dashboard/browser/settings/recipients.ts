import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { answerOf } from '#pages/browser/answer.ts';
import { DialogButton } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { SelectField, TextField } from '#pages/browser/fields.ts';
import { Badge, Card } from '#pages/browser/layout.ts';
import { Ago } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { ChainName, useChains } from '../chains.ts';
import { numberedList, pageQuery } from '../paging.ts';
import { useIsOwner } from '../signed-in.ts';
import { VerifyRecipient } from './verify-recipient.ts';

type Recipient = Payments['Recipient'];
type OnDone = (said: string) => void;

/** Addresses that receive the organization's payments, with the proof of ownership. */
export function Recipients({ isLocked, onDone }: { isLocked: boolean; onDone: OnDone }): VNode {
  const mayChange = useIsOwner();
  const [version, setVersion] = useState(0);
  const changed = (said: string) => {
    setVersion(version + 1);
    onDone(said);
  };
  return h(Card, {
    title: 'Recipients',
    aside: mayChange && h(AddRecipient, { onDone: changed }),
    children: html`
      <p class="hint">
        ${
          isLocked
            ? 'Links and checkouts can use only these addresses.'
            : 'An address is added here when a link or a checkout uses it.'
        }${' '}
        With several organizations on this service, prove that an address is yours: until then another one may claim it.
      </p>
      ${numberedList({
        label: 'Recipients',
        inputs: [version],
        load: (page, signal) => api.GET('/api/v1/recipients', { params: { query: pageQuery(page) }, signal }),
        keyOf: ({ id }: Recipient) => id,
        empty: 'No recipients yet. Add the address that receives your payments.',
        columns: [
          { name: 'Address', cell: ({ address }: Recipient) => h(Reference, { value: address }) },
          { name: 'Chain', cell: ({ chain_id }: Recipient) => h(ChainName, { id: chain_id }) },
          { name: 'Ownership', cell: (one: Recipient) => h(Ownership, { recipient: one }) },
          { name: 'Added', cell: ({ created_at }: Recipient) => h(Ago, { at: created_at }) },
          ...(mayChange
            ? [
                {
                  name: 'Actions',
                  cell: (one: Recipient) => html`<span class="row">
                    ${!one.verified && h(VerifyRecipient, { recipient: one, onDone: changed })}
                    ${h(Remove, { recipient: one, onDone: changed })}
                  </span>`,
                },
              ]
            : []),
        ],
      })}
    `,
  });
}

function Ownership({ recipient: { verified_by } }: { recipient: Recipient }): VNode {
  if (verified_by === null) return h(Badge, { tone: 'warning', children: 'Not verified' });
  return h(Badge, {
    tone: 'good',
    children: verified_by === 'signature' ? 'Verified by signature' : 'Set by the operator',
  });
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
    onDone('The recipient is added.');
  };
  return h(DialogButton, {
    label: 'Add recipient',
    title: 'Add a recipient',
    action: 'Add',
    onConfirm: add,
    children: html`
      ${h(SelectField<string>, {
        label: 'Chain',
        param: 'chain_id',
        value: chainId,
        options: chains.map(({ id, name }) => [String(id), name] as const),
        onValue: setChosen,
      })}
      ${h(TextField, {
        label: 'Address',
        param: 'address',
        value: address,
        placeholder: '0x…',
        isRequired: true,
        onValue: setAddress,
      })}
    `,
  });
}

function Remove({ recipient, onDone }: { recipient: Recipient; onDone: OnDone }): VNode {
  const remove = async () => {
    const params = { path: { recipient_id: recipient.id } };
    await answerOf(api.DELETE('/api/v1/recipients/{recipient_id}', { params }));
    onDone('The recipient is removed.');
  };
  return h(DialogButton, {
    label: 'Remove',
    title: 'Remove this recipient?',
    tone: 'danger',
    onConfirm: remove,
    children: html`
      <p>
        <code>${recipient.address}</code> leaves the list. Active links, open checkouts and unmatched transfers that name it
        have to be gone first.
      </p>
    `,
  });
}
