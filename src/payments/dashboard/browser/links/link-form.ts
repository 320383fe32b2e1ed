import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { ChangeForm, useChange } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { TextField } from '#pages/browser/fields.ts';
import { type Chains, tokenAt } from '../chains.ts';
import { useKeptDraft } from '../session/kept-draft.ts';
import { useSignIn } from '../signed-in.ts';
import { bodyOf, type Draft, type LinkBody } from './draft.ts';
import { LimitFields, LookFields, PayerFields, ShippingFields } from './page-fields.ts';
import { Preview } from './preview.ts';
import { type DraftFields, PriceFields } from './price-fields.ts';

/** Form for the terms of a link, next to a preview of its pay page. */
export function LinkForm({
  initial,
  chains,
  action,
  isDestinationFixed = false,
  onSend,
}: {
  initial: Draft;
  chains: Chains;
  /** Label of the submit button. */
  action: string;
  isDestinationFixed?: boolean;
  /** Sends the terms. @throws Problem */
  onSend: (body: LinkBody) => Promise<unknown>;
}): VNode {
  const { value: draft, change: onChange, ...kept } = useKeptDraft('link', initial);
  const change = useChange();
  const { organization } = useSignIn();
  const fields: DraftFields = { draft, onChange, chains, isDestinationFixed };
  const send = () =>
    change.run(async () => {
      const chosen = { chain_id: draft.chainId, token_address: draft.tokenAddress };
      await onSend(bodyOf(draft, tokenAt(chains, chosen) ?? { decimals: 0 }));
      kept.forget();
    });
  return html`<div class="split">
    <section class="card">
      ${
        kept.isRestored &&
        html`<div class="notice row" role="status">
          <span>What you typed before is here again. It is not saved yet.</span>
          <button type="button" onClick=${kept.drop}>Discard</button>
        </div>`
      }
      ${h(ChangeForm, {
        label: 'Payment link',
        action,
        change,
        onSubmit: send,
        children: html`
          ${h(TextField, {
            label: 'Name',
            param: 'name',
            value: draft.name,
            isRequired: true,
            maxLength: 100,
            onValue: (name: string) => onChange({ name }),
          })}
          ${h(TextField, {
            label: 'Description',
            param: 'description',
            type: 'textarea',
            value: draft.description,
            onValue: (description: string) => onChange({ description }),
          })}
          ${h(PriceFields, { ...fields })}
          ${h(Group, { title: 'Appearance', children: h(LookFields, { ...fields }) })}
          ${h(Group, { title: 'Custom fields', children: h(PayerFields, { ...fields }) })}
          ${h(Group, { title: 'Shipping', children: h(ShippingFields, { ...fields }) })}
          ${h(Group, { title: 'URL, limits and metadata', children: h(LimitFields, { ...fields }) })}
        `,
      })}
    </section>
    <section class="card sticky">
      <header><h2>Preview</h2></header>
      ${h(Preview, { draft, chains, merchant: organization.name })}
    </section>
  </div>`;
}

function Group({ title, children }: { title: string; children: VNode }): VNode {
  return html`<details class="group">
    <summary>${title}</summary>
    <div class="stack">${children}</div>
  </details>`;
}
