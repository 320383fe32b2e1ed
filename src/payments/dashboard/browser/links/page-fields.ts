import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { CheckField, SelectField, TextField } from '#pages/browser/fields.ts';
import { tokenAt } from '../chains.ts';
import { PictureField } from '../picture-field.ts';
import type { FormFieldDraft, MetadataDraft, ShippingDraft } from './draft.ts';
import type { DraftFields } from './price-fields.ts';
import { Repeated } from './repeated.ts';

const TYPES: readonly (readonly [FormFieldDraft['type'], string])[] = [
  ['text', 'Text'],
  ['email', 'Email address'],
  ['phone', 'Phone number'],
  ['number', 'Number'],
  ['textarea', 'Long text'],
  ['select', 'Dropdown'],
  ['checkbox', 'Checkbox'],
];
const NEW_FIELD: FormFieldDraft = {
  id: '',
  type: 'text',
  label: '',
  isRequired: false,
  placeholder: '',
  options: '',
};
const NEW_SHIPPING: ShippingDraft = { id: '', name: '', amount: '', days: '' };

const DEFAULT_COLOR = '#0052ff';
type Chosen = InputEvent & { readonly currentTarget: HTMLInputElement };

/** Fields for the look of the pay page and the redirect after the payment. */
export function LookFields({ draft, onChange }: DraftFields): VNode {
  return html`
    <div class="pair">
      ${h(TextField, {
        label: 'Button text',
        param: 'button_text',
        value: draft.buttonText,
        hint: 'Without one, the buttons are “Continue to payment” and then “Pay”.',
        onValue: (buttonText: string) => onChange({ buttonText }),
      })}
      <div class="row">
        ${h(TextField, {
          label: 'Color',
          param: 'theme_color',
          value: draft.themeColor,
          placeholder: DEFAULT_COLOR,
          hint: 'Choose one, or type it as #0052ff.',
          onValue: (themeColor: string) => onChange({ themeColor }),
        })}
        <input
          type="color"
          aria-label="Choose a color"
          value=${/^#[0-9a-f]{6}$/i.test(draft.themeColor) ? draft.themeColor : DEFAULT_COLOR}
          onInput=${({ currentTarget }: Chosen) => onChange({ themeColor: currentTarget.value })}
        />
      </div>
    </div>
    ${h(PictureField, {
      label: 'Image',
      param: 'image_url',
      value: draft.imageUrl,
      onValue: (imageUrl: string) => onChange({ imageUrl }),
    })}
    <div class="pair">
      ${h(TextField, {
        label: 'Return URL (https)',
        param: 'return_url',
        type: 'url',
        value: draft.returnUrl,
        onValue: (returnUrl: string) => onChange({ returnUrl }),
      })}
      ${h(TextField, {
        label: 'Return link text',
        param: 'return_label',
        value: draft.returnLabel,
        onValue: (returnLabel: string) => onChange({ returnLabel }),
      })}
      ${h(TextField, {
        label: 'Business name on this page',
        param: 'branding.business_name',
        value: draft.businessName,
        onValue: (businessName: string) => onChange({ businessName }),
      })}
      ${h(PictureField, {
        label: 'Logo on this page',
        param: 'branding.logo_url',
        value: draft.logoUrl,
        onValue: (logoUrl: string) => onChange({ logoUrl }),
      })}
    </div>
  `;
}

/** Questions to the payer. */
export function PayerFields({ draft, onChange }: DraftFields): VNode {
  return h(Repeated<FormFieldDraft>, {
    name: 'question',
    parts: draft.fields,
    empty: NEW_FIELD,
    onParts: (fields: readonly FormFieldDraft[]) => onChange({ fields }),
    view: (field: FormFieldDraft, index: number, change: (changes: Partial<FormFieldDraft>) => void) => html`
      <div class="pair">
        ${h(TextField, {
          label: 'Label',
          param: `form_schema.fields.${index}.label`,
          value: field.label,
          isRequired: true,
          onValue: (label: string) => change({ label }),
        })}
        ${h(TextField, {
          label: 'Key',
          param: `form_schema.fields.${index}.id`,
          value: field.id,
          isRequired: true,
          onValue: (id: string) => change({ id }),
        })}
        ${h(SelectField<FormFieldDraft['type']>, {
          label: 'Type',
          param: `form_schema.fields.${index}.type`,
          value: field.type,
          options: TYPES,
          onValue: type => change({ type }),
        })}
        ${h(TextField, {
          label: 'Placeholder',
          param: `form_schema.fields.${index}.placeholder`,
          value: field.placeholder,
          onValue: (placeholder: string) => change({ placeholder }),
        })}
      </div>
      ${
        field.type === 'select' &&
        h(TextField, {
          label: 'Options, one per line',
          param: `form_schema.fields.${index}.options`,
          type: 'textarea',
          value: field.options,
          onValue: (options: string) => change({ options }),
        })
      }
      ${h(CheckField, {
        label: 'Required',
        isChecked: field.isRequired,
        onChecked: (isRequired: boolean) => change({ isRequired }),
      })}
    `,
  });
}

/** Shipping options, and the question for a shipping address. */
export function ShippingFields({ draft, onChange, chains }: DraftFields): VNode {
  const { chainId: chain_id, tokenAddress: token_address } = draft;
  const unit = tokenAt(chains, { chain_id, token_address })?.symbol;
  return html`
    ${h(CheckField, {
      label: 'Collect a shipping address',
      isChecked: draft.collectsAddress,
      onChecked: (collectsAddress: boolean) => onChange({ collectsAddress }),
    })}
    ${h(Repeated<ShippingDraft>, {
      name: 'shipping option',
      parts: draft.shipping,
      empty: NEW_SHIPPING,
      onParts: (shipping: readonly ShippingDraft[]) => onChange({ shipping }),
      view: (way: ShippingDraft, index: number, change: (changes: Partial<ShippingDraft>) => void) => {
        const field = (label: string, name: keyof ShippingDraft, param: string, more = {}) =>
          h(TextField, {
            label,
            param: `shipping_options.${index}.${param}`,
            value: way[name],
            onValue: (value: string) => change({ [name]: value }),
            ...more,
          });
        return html`<div class="pair">
          ${field('Name', 'name', 'name', { isRequired: true })}
          ${field('ID', 'id', 'id', { isRequired: true })}
          ${field('Price', 'amount', 'amount', { unit, isRequired: true })}
          ${field('Estimated days', 'days', 'estimated_days', { type: 'number' })}
        </div>`;
      },
    })}
  `;
}

/** Expiry, use limit, short code and notes of a link. */
export function LimitFields({ draft, onChange }: DraftFields): VNode {
  return html`
    <div class="pair">
      ${h(TextField, {
        label: 'Expires at',
        param: 'expires_at',
        type: 'datetime-local',
        value: draft.expiresAt,
        hint: 'In your time zone. Leave empty for no expiry.',
        onValue: (expiresAt: string) => onChange({ expiresAt }),
      })}
      ${h(TextField, {
        label: 'Maximum number of payments',
        param: 'max_uses',
        type: 'number',
        value: draft.maxUses,
        hint: 'Leave empty for no limit.',
        onValue: (maxUses: string) => onChange({ maxUses }),
      })}
    </div>
    ${h(CheckField, {
      label:
        'Reserve one of the last payments for ten minutes for a buyer whose wallet has signed, and for each checkout that you create',
      param: 'reserve_uses',
      isChecked: draft.reservesUses,
      onChecked: (reservesUses: boolean) => onChange({ reservesUses }),
    })}
    ${h(TextField, {
      label: 'Short code',
      param: 'short_code',
      value: draft.shortCode,
      hint: 'The last part of the link’s URL. Leave empty to generate one.',
      onValue: (shortCode: string) => onChange({ shortCode }),
    })}
    ${h(Repeated<MetadataDraft>, {
      name: 'metadata entry',
      parts: draft.metadata,
      empty: { key: '', value: '' },
      onParts: (metadata: readonly MetadataDraft[]) => onChange({ metadata }),
      view: (
        { key, value }: MetadataDraft,
        _: number,
        change: (changes: Partial<MetadataDraft>) => void,
      ) => html`<div
        class="pair"
      >
        ${h(TextField, {
          label: 'Key',
          param: `metadata.${key}`,
          value: key,
          isRequired: true,
          onValue: (text: string) => change({ key: text }),
        })}
        ${h(TextField, {
          label: 'Value',
          param: 'metadata',
          value,
          onValue: (text: string) => change({ value: text }),
        })}
      </div>`,
    })}
  `;
}
