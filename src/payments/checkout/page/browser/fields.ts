import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import type { components } from '#generated/payments/types.ts';
import { type Denomination, unitsText } from '#pages/browser/amounts.ts';

type FormField = components['schemas']['FormField'];

/** One input of the form. Its name is the path of the field in the request's body, which errors use too. */
interface Input {
  readonly name: string;
  readonly label: string;
  readonly isRequired: boolean;
  readonly hint?: string | undefined;
}

const INPUT_TYPES = {
  text: { type: 'text' },
  email: { type: 'email', autocomplete: 'email' },
  phone: { type: 'tel', autocomplete: 'tel' },
  number: { type: 'number', step: 'any', inputmode: 'decimal' },
} as const;

/** Fields that the merchant asks the payer to fill in. */
export function formFields(fields: readonly FormField[]): readonly VNode[] {
  return fields.map(field => {
    const input = { name: `form_data.${field.id}`, label: field.label, isRequired: field.required };
    return field.type === 'checkbox' ? checkbox(input) : labelled(input, control(field, input));
  });
}

/** Bounds of an amount that the payer chooses, in smallest units, with a hint. */
interface Bounds {
  readonly hint: string | undefined;
  /** Initial value of the field, in tokens. */
  readonly suggested: string | undefined;
  readonly least: bigint;
  readonly most: bigint | null;
}

/** Field for an amount in tokens. The script converts it to smallest units, exactly. */
export function amountField(
  { symbol, decimals }: Denomination,
  { hint, suggested, least, most }: Bounds,
): VNode {
  const input = { name: 'amount', label: 'Amount', isRequired: true, hint };
  return labelled(
    input,
    html`<span class="with-unit">
      <input
        type="text"
        inputmode="decimal"
        autocomplete="off"
        maxlength="120"
        data-decimals=${decimals}
        data-least=${least.toString()}
        data-most=${most?.toString()}
        value=${suggested}
        ...${attributes(input)}
      />
      <span class="unit" aria-hidden="true">${symbol}</span>
    </span>`,
  );
}

/** Shipping options. The first one is selected. */
export function shippingFields(
  options: readonly components['schemas']['ShippingOption'][],
  token: Denomination,
): VNode | null {
  if (options.length === 0) return null;
  const name = 'shipping_option_id';
  return html`<fieldset class="field">
    <legend>Shipping</legend>
    ${options.map(
      ({ id, name: text, amount, estimated_days: days }, index) => html`<label class="choice">
        <input
          type="radio"
          name=${name}
          value=${id}
          required
          data-amount=${amount}
          checked=${index === 0}
          aria-describedby=${`error-${name}`}
        />
        <span class="choice-name">
          ${text}${days !== null && html`<span class="choice-detail">${daysText(days)}</span>`}
        </span>
        <span class="choice-amount">${BigInt(amount) === 0n ? 'free' : unitsText(BigInt(amount), token)}</span>
      </label>`,
    )}
    ${errorOf(name)}
  </fieldset>`;
}

/** Fields of the shipping address. */
export function addressFields(): VNode {
  const line = (
    name: string,
    label: string,
    isRequired: boolean,
    autocomplete: string,
    maxLength: number,
  ) => {
    const input = { name: `shipping_address.${name}`, label, isRequired };
    return labelled(
      input,
      html`<input
        type="text"
        maxlength=${maxLength}
        autocomplete=${`shipping ${autocomplete}`}
        ...${attributes(input)}
      />`,
    );
  };
  const country = { name: 'shipping_address.country', label: 'Country', isRequired: false };
  return html`<fieldset class="address">
    <legend>Shipping address</legend>
    ${line('name', 'Name', false, 'name', 100)}
    ${line('line1', 'Street and number', true, 'address-line1', 200)}
    ${line('line2', 'Apartment, suite or floor', false, 'address-line2', 200)}
    <div class="pair">
      ${line('zip', 'Postal code', true, 'postal-code', 20)}
      ${line('city', 'City', true, 'address-level2', 100)}
    </div>
    <div class="pair">
      ${line('state', 'State or region', false, 'address-level1', 100)}
      ${labelled(
        country,
        html`<select autocomplete="shipping country" ...${attributes(country)}>
          <option value=""></option>
          ${COUNTRIES.map(([code, name]) => html`<option value=${code}>${name}</option>`)}
        </select>`,
      )}
    </div>
  </fieldset>`;
}

function control({ type, placeholder, options, required }: FormField, input: Input): VNode {
  const common = { ...attributes(input), placeholder: placeholder ?? undefined };
  if (type === 'select') {
    return html`<select ...${attributes(input)}>
      <option value="" disabled=${required} selected>${placeholder ?? 'Please choose'}</option>
      ${options.map(option => html`<option value=${option}>${option}</option>`)}
    </select>`;
  }
  if (type === 'textarea') return html`<textarea rows="3" maxlength="2000" ...${common}></textarea>`;
  if (type === 'checkbox') return checkbox(input);
  return html`<input ...${INPUT_TYPES[type]} maxlength="2000" ...${common} />`;
}

function checkbox(input: Input): VNode {
  return html`<div class="field">
    <label class="check">
      <input type="checkbox" ...${attributes(input)} />
      <span>${input.label}${optional(input)}</span>
    </label>
    ${errorOf(input.name)}
  </div>`;
}

function labelled(input: Input, field: VNode): VNode {
  const { name, label, hint } = input;
  return html`<div class="field">
    <label for=${`field-${name}`}>${label}${optional(input)}</label>
    ${field}
    ${hint !== undefined && html`<p class="hint" id=${`hint-${name}`}>${hint}</p>`}
    ${errorOf(name)}
  </div>`;
}

function attributes({ name, isRequired, hint }: Input) {
  return {
    id: `field-${name}`,
    name,
    'aria-describedby': hint === undefined ? `error-${name}` : `hint-${name} error-${name}`,
    required: isRequired,
  };
}

function optional({ isRequired }: Input): ComponentChildren {
  return !isRequired && html` <span class="optional">(optional)</span>`;
}

function errorOf(name: string): VNode {
  return html`<p class="error" id=${`error-${name}`} hidden></p>`;
}

function daysText(days: number): string {
  if (days === 0) return 'same day';
  return days === 1 ? '1 day' : `${days} days`;
}

/** Countries and territories with a code of ISO 3166-1. */
const CODES =
  'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW';

const names = new Intl.DisplayNames('en', { type: 'region' });

/** Code and English name, ordered by name. */
const COUNTRIES: readonly (readonly [code: string, name: string])[] = CODES.split(' ')
  .map(code => [code, names.of(code) ?? code] as const)
  .toSorted(([, one], [, other]) => one.localeCompare(other, 'en'));
