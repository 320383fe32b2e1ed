import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { SelectField, TextField } from '#pages/browser/fields.ts';
import { METHOD_WORDS } from '#payments/browser/transfer-words.ts';
import { type Chains, tokenAt } from '../chains.ts';
import { PictureField } from '../picture-field.ts';
import { ToleranceField } from '../tolerance.ts';
import type { Draft, ItemDraft, Pricing } from './draft.ts';
import { Repeated } from './repeated.ts';

/** Properties common to all groups of form fields. */
export interface DraftFields {
  readonly draft: Draft;
  readonly onChange: (changes: Partial<Draft>) => void;
  readonly chains: Chains;
  /** True when chain, token and recipient can no longer change, because the link has a session. */
  readonly isDestinationFixed?: boolean;
}

const PRICINGS: readonly (readonly [Pricing, string])[] = [
  ['fixed', 'Fixed price'],
  ['items', 'Sum of items'],
  ['open', 'Chosen by the payer'],
];
const NEW_ITEM: ItemDraft = { name: '', description: '', imageUrl: '', amount: '', quantity: '1' };

/** Fields for the price, the items, the chain and token, the recipient, the payment method, and the tolerance. */
export function PriceFields(props: DraftFields): VNode {
  const { draft, onChange } = props;
  return html`
    ${h(SelectField<Pricing>, {
      label: 'Price',
      param: 'pricing',
      value: draft.pricing,
      options: PRICINGS,
      onValue: pricing =>
        onChange({ pricing, ...(pricing === 'items' && draft.items.length === 0 && { items: [NEW_ITEM] }) }),
    })}
    ${h(DestinationFields, { ...props })}
    ${h(MethodField, { ...props })}
    ${draft.pricing === 'open' ? h(BoundFields, { ...props }) : h(FixedFields, { ...props })}
    ${h(ToleranceField, {
      value: draft.tolerance,
      hint: 'For wallets that signed, deposit addresses and payments that you assign, at most 10 %. Leave empty for the setting of the organization.',
      onValue: (tolerance: string) => onChange({ tolerance }),
    })}
  `;
}

function FixedFields({ draft, onChange, chains }: DraftFields): VNode {
  const unit = symbolOf(draft, chains);
  return html`
    ${
      draft.pricing === 'fixed' &&
      h(TextField, {
        label: 'Amount',
        param: 'amount',
        value: draft.amount,
        unit,
        isRequired: true,
        hint: draft.items.length > 0 && 'Must be the sum of the items.',
        onValue: (amount: string) => onChange({ amount }),
      })
    }
    ${h(Repeated<ItemDraft>, {
      name: 'item',
      parts: draft.items,
      empty: NEW_ITEM,
      onParts: (items: readonly ItemDraft[]) => onChange({ items }),
      view: (item: ItemDraft, index: number, change: (changes: Partial<ItemDraft>) => void) => html`
        ${h(TextField, {
          label: 'Name',
          param: `items.${index}.name`,
          value: item.name,
          isRequired: true,
          onValue: (name: string) => change({ name }),
        })}
        <div class="pair">
          ${h(TextField, {
            label: 'Unit price',
            param: `items.${index}.amount`,
            value: item.amount,
            unit,
            isRequired: true,
            onValue: (amount: string) => change({ amount }),
          })}
          ${h(TextField, {
            label: 'Quantity',
            param: `items.${index}.quantity`,
            type: 'number',
            value: item.quantity,
            isRequired: true,
            onValue: (quantity: string) => change({ quantity }),
          })}
        </div>
        ${h(TextField, {
          label: 'Description',
          param: `items.${index}.description`,
          value: item.description,
          onValue: (description: string) => change({ description }),
        })}
        ${h(PictureField, {
          label: 'Image',
          param: `items.${index}.image_url`,
          value: item.imageUrl,
          onValue: (imageUrl: string) => change({ imageUrl }),
        })}
      `,
    })}
  `;
}

function BoundFields({ draft, onChange, chains }: DraftFields): VNode {
  const unit = symbolOf(draft, chains);
  return html`<div class="pair">
    ${h(TextField, {
      label: 'Minimum amount',
      param: 'min_amount',
      value: draft.minAmount,
      unit,
      onValue: (minAmount: string) => onChange({ minAmount }),
    })}
    ${h(TextField, {
      label: 'Maximum amount',
      param: 'max_amount',
      value: draft.maxAmount,
      unit,
      onValue: (maxAmount: string) => onChange({ maxAmount }),
    })}
    ${h(TextField, {
      label: 'Suggested amount',
      param: 'suggested_amount',
      value: draft.suggestedAmount,
      unit,
      onValue: (suggestedAmount: string) => onChange({ suggestedAmount }),
    })}
  </div>`;
}

function DestinationFields({ draft, onChange, chains, isDestinationFixed = false }: DraftFields): VNode {
  const chain = chains.find(({ id }) => id === draft.chainId);
  const chooseChain = (id: string) => {
    const chosen = chains.find(one => one.id === Number(id));
    if (chosen !== undefined) onChange({ chainId: chosen.id, tokenAddress: chosen.tokens[0]?.address ?? '' });
  };
  return html`
    <div class="pair">
      ${h(SelectField<string>, {
        label: 'Chain',
        param: 'chain_id',
        value: String(draft.chainId),
        options: chains.map(({ id, name }) => [String(id), name] as const),
        isDisabled: isDestinationFixed,
        onValue: chooseChain,
      })}
      ${h(SelectField<string>, {
        label: 'Token',
        param: 'token_address',
        value: draft.tokenAddress,
        options: (chain?.tokens ?? []).map(({ address, symbol }) => [address, symbol] as const),
        isDisabled: isDestinationFixed,
        onValue: (tokenAddress: string) => onChange({ tokenAddress }),
      })}
    </div>
    ${h(TextField, {
      label: 'Recipient',
      param: 'recipient_address',
      value: draft.recipient,
      placeholder: '0x…',
      isDisabled: isDestinationFixed,
      hint: isDestinationFixed
        ? 'Chain, token and recipient cannot be changed once a checkout has begun. Duplicate the link instead.'
        : 'Address that receives the payments. Leave empty for the organization’s default.',
      onValue: (recipient: string) => onChange({ recipient }),
    })}
  `;
}

/** Field for the payment method. Left out where there is no choice (Decision 402). */
function MethodField({ draft, onChange, chains }: DraftFields): VNode | null {
  const { paymentMethod, chainId, tokenAddress } = draft;
  const offered = tokenAt(chains, { chain_id: chainId, token_address: tokenAddress })?.payment_methods ?? [];
  const isOffered = offered.includes('deposit_address');
  if (!isOffered && paymentMethod === 'exact_amount') return null;
  const deposit = isOffered ? DEPOSIT_HINT : NOT_OFFERED_HINT;
  return h(SelectField<Draft['paymentMethod']>, {
    label: 'Payment method',
    param: 'payment_method',
    value: paymentMethod,
    options: METHODS.map(method => [method, METHOD_WORDS[method]] as const),
    hint: paymentMethod === 'deposit_address' ? deposit : EXACT_HINT,
    onValue: method => onChange({ paymentMethod: method }),
  });
}

const METHODS = ['exact_amount', 'deposit_address'] as const;
const EXACT_HINT = 'The last digits of an amount tell payments apart. Wallets that sign pay the price.';
const DEPOSIT_HINT =
  'Each checkout has an address of its own, to which payers send any amount, in parts and late too. It can only pay the recipient, which is fixed in it for ever. Nobody outside of the project has audited its contracts.';
const NOT_OFFERED_HINT =
  'There are no deposit addresses for this token now. New checkouts ask for an exact amount meanwhile.';

function symbolOf({ chainId, tokenAddress }: Draft, chains: Chains): string | undefined {
  return tokenAt(chains, { chain_id: chainId, token_address: tokenAddress })?.symbol;
}
