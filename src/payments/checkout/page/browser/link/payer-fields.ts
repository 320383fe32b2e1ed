import { html } from 'htm/preact';
import { type ComponentChildren, Fragment, type VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { components } from '#generated/payments/types.ts';
import type { Denomination } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { CheckField, ChoiceField, SelectField, TextField } from '#pages/browser/fields.ts';
import { amountIn, useTexts } from '../texts.ts';

type FormField = components['schemas']['FormField'];

/** Texts as typed, by field in the notation of API errors. A checkbox is `on` or empty. */
export type Typed = Readonly<Record<string, string>>;

/** Values of a form, and the change of one. */
export interface TypedValues {
  readonly typed: Typed;
  readonly onTyped: (param: string, text: string) => void;
}

const INPUT_TYPES = {
  text: { type: 'text' },
  email: { type: 'email', autocomplete: 'email' },
  phone: { type: 'tel', autocomplete: 'tel' },
  number: { type: 'number', step: 'any', inputMode: 'decimal' },
  textarea: { type: 'textarea' },
} as const;

const MAX_CHARACTERS = 2_000;

/** Field that the merchant asks the payer to fill in. */
export function MerchantField({ field, typed, onTyped }: TypedValues & { field: FormField }): VNode {
  const { form, page } = useTexts();
  const { id, type, label, required: isRequired, placeholder, options } = field;
  const param = paramOf(field);
  const value = typed[param] ?? '';
  const shared = { param, label: marked(label, isRequired, page.optional), isRequired };
  const onValue = (text: string) => onTyped(param, text);
  if (type === 'checkbox') {
    const onChecked = (isChecked: boolean) => onTyped(param, isChecked ? 'on' : '');
    return h(CheckField, { ...shared, key: id, isChecked: value === 'on', onChecked });
  }
  if (type === 'select') {
    const choices = ['', ...options].map(option => [option, option || (placeholder ?? form.choose)] as const);
    return h(SelectField<string>, { ...shared, key: id, value, options: choices, onValue });
  }
  const input = { placeholder: placeholder ?? undefined, maxLength: MAX_CHARACTERS, ...INPUT_TYPES[type] };
  return h(TextField, { ...shared, ...input, key: id, value, onValue });
}

/** Name of a merchant's field in the body of the request. */
export function paramOf({ id }: Pick<FormField, 'id'>): string {
  return `form_data.${id}`;
}

/** Shipping options. The first one is selected at first. */
export function ShippingChoice({
  options,
  token,
  typed,
  onTyped,
}: TypedValues & {
  options: readonly components['schemas']['ShippingOption'][];
  token: Denomination;
}): VNode {
  const texts = useTexts();
  const { form, offer } = texts;
  return h(ChoiceField, {
    label: offer.shipping,
    param: 'shipping_option_id',
    value: typed.shipping_option_id ?? '',
    onValue: id => onTyped('shipping_option_id', id),
    choices: options.map(({ id, name, amount, estimated_days: days }) => ({
      id,
      name,
      detail: days === null ? undefined : form.days(days),
      aside: BigInt(amount) === 0n ? form.free : amountIn(texts, BigInt(amount), token),
    })),
  });
}

type AddressPart = keyof NonNullable<components['schemas']['ShippingAddressInput']>;
/** Name, token of HTML's `autocomplete`, and length at most of each line but the country. */
const NAME = ['name', 'name', 100] as const;
const LINE_1 = ['line1', 'address-line1', 200] as const;
const LINE_2 = ['line2', 'address-line2', 200] as const;
const ZIP = ['zip', 'postal-code', 20] as const;
const CITY = ['city', 'address-level2', 100] as const;
const STATE = ['state', 'address-level1', 100] as const;
/** A parcel needs all of these (Decision 446). */
const REQUIRED: readonly AddressPart[] = ['name', 'line1', 'zip', 'city', 'country'];

/** Fields of the shipping address. */
export function AddressFields({ typed, onTyped }: TypedValues): VNode {
  const { form, page, locale } = useTexts();
  const countries = useMemo(() => countriesIn(locale), [locale]);
  const line = ([name, autocomplete, maxLength]: readonly [AddressPart, string, number]) => {
    const param = `shipping_address.${name}`;
    const isRequired = REQUIRED.includes(name);
    return h(TextField, {
      label: marked(form[name], isRequired, page.optional),
      param,
      value: typed[param] ?? '',
      onValue: text => onTyped(param, text),
      isRequired,
      maxLength,
      autocomplete: `shipping ${autocomplete}`,
    });
  };
  const country = 'shipping_address.country';
  return html`<fieldset class="address">
    <legend>${form.address}</legend>
    ${line(NAME)} ${line(LINE_1)} ${line(LINE_2)}
    <div class="pair">${line(ZIP)} ${line(CITY)}</div>
    <div class="pair">
      ${line(STATE)}
      ${h(SelectField<string>, {
        label: form.country,
        param: country,
        value: typed[country] ?? '',
        onValue: code => onTyped(country, code),
        options: [['', ''], ...countries],
        isRequired: true,
        autocomplete: 'shipping country',
      })}
    </div>
  </fieldset>`;
}

/** Label of a field, which says so when the field may stay empty. */
function marked(label: string, isRequired: boolean, optional: string): ComponentChildren {
  if (isRequired) return label;
  return h(Fragment, { children: html`${label} <span class="optional">${optional}</span>` });
}

/** Countries and territories with a code of ISO 3166-1. */
const CODES =
  'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW';

/** Codes and names in a language, ordered by name. */
function countriesIn(locale: string): readonly (readonly [code: string, name: string])[] {
  const names = new Intl.DisplayNames(locale, { type: 'region' });
  return CODES.split(' ')
    .map(code => [code, names.of(code) ?? code] as const)
    .toSorted(([, one], [, other]) => one.localeCompare(other, locale));
}
