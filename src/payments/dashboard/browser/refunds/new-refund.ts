import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { commaAdvice, smallestUnits, typedUnits } from '#pages/browser/amounts.ts';
import { Awaited, answerOf, Empty, useAnswer } from '#pages/browser/answer.ts';
import { ChangeForm, useChange } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { SelectField, TextField } from '#pages/browser/fields.ts';
import { Card, Facts } from '#pages/browser/layout.ts';
import { Problem } from '#pages/browser/problem.ts';
import { Reference, shortened } from '#pages/browser/reference.ts';
import { dashboard } from '../addresses.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { Amount, ChainName, tokenAt, useChains } from '../chains.ts';
import { ReasonField, reasonPart } from '../decisions.ts';
import { givenFilters } from '../filters.ts';
import { openPage } from '../frame.ts';
import { useHasPermission } from '../signed-in.ts';
import { DESTINATION_SOURCES } from './refund-parts.ts';

type Options = Payments['RefundOptions'];

/** The money to refund, from the page's URL. */
const MONEY = Object.fromEntries(
  [...givenFilters()].filter(([name]) =>
    ['session_id', 'transaction_id', 'unmatched_transfer_id'].includes(name),
  ),
);

/** Amount beyond the price of a checkout, in smallest units, from the page's URL; undefined for all that is left. */
const PROPOSED = unitsOf(givenFilters().get('amount'));

function unitsOf(given: string | undefined): bigint | undefined {
  return given !== undefined && /^\d{1,78}$/.test(given) ? BigInt(given) : undefined;
}

/** Page that requests a refund and then opens it. */
function NewRefund(): VNode {
  const mayWrite = useHasPermission('write');
  const chains = useChains();
  const options = useAnswer(signal =>
    api.GET('/api/v1/refunds/options', { params: { query: MONEY }, signal }),
  );
  if (!mayWrite) return html`<h1>Refund</h1>${h(Empty, { children: 'Your role may not refund.' })}`;
  return html`
    <p class="small"><a href=${dashboard.refunds}>Refunds</a></p>
    <h1>Refund</h1>
    ${h(Awaited<Options>, {
      loading: options,
      children: known => chains !== undefined && h(RefundForm, { options: known }),
    })}
  `;
}

/** Amount, destination and reason of a refund. A destination that the payer has not proved is typed twice. */
function RefundForm({ options }: { options: Options }): VNode {
  const token = tokenAt(useChains() ?? [], options) ?? { symbol: 'units', decimals: 0 };
  const { destinations, amount_refundable: refundable } = options;
  const isRest = PROPOSED !== undefined && PROPOSED <= BigInt(refundable);
  const [amount, setAmount] = useState(typedUnits(isRest ? PROPOSED : BigInt(refundable), token.decimals));
  const [chosen, setChosen] = useState(destinations.find(({ proved }) => proved)?.address ?? '');
  const [typed, setTyped] = useState('');
  const [again, setAgain] = useState('');
  const [reason, setReason] = useState('');
  const change = useChange();
  const known = destinations.find(({ address }) => address === chosen);
  const isProved = known?.proved === true;
  const create = () =>
    change.run(async () => {
      const units = smallestUnits(amount, token.decimals);
      if (units === undefined || units === 0n)
        throw new Problem(commaAdvice(amount) ?? `Type an amount of ${token.symbol}, such as 12.5.`, {
          param: 'amount',
        });
      const body = {
        ...MONEY,
        amount: units.toString(),
        destination_address: known?.address ?? typed.trim(),
        ...(isProved ? {} : { destination_confirmation: again.trim() }),
        ...reasonPart(reason),
      };
      const params = { header: { 'Idempotency-Key': idempotencyKey() } };
      const { data } = await answerOf(api.POST('/api/v1/refunds', { params, body }));
      location.assign(dashboard.refund(data.id));
    });
  if (BigInt(refundable) === 0n)
    return h(Empty, { children: 'All confirmed money has been refunded or is reserved by open refunds.' });
  return html`<div class="split">
    <section class="card">
      ${h(ChangeForm, {
        label: 'Refund',
        action: 'Create refund',
        change,
        onSubmit: create,
        children: html`
          ${h(TextField, {
            label: 'Amount',
            param: 'amount',
            value: amount,
            isRequired: true,
            inputMode: 'decimal',
            unit: token.symbol,
            ...(isRest && { hint: 'What arrived beyond the price.' }),
            onValue: setAmount,
          })}
          ${h(SelectField<string>, {
            label: 'Destination',
            param: 'destination',
            value: chosen,
            options: [
              ...destinations.filter(({ source }) => source !== 'sender').map(optionOf),
              ['', 'Another address'],
              ...destinations.filter(({ source }) => source === 'sender').map(optionOf),
            ],
            onValue: setChosen,
          })}
          ${known?.previous_address != null && html`<p class="notice">The payer stated ${h(Reference, { value: known.previous_address })} before.</p>`}
          ${known?.warning != null && html`<p class="notice warning">${known.warning}</p>`}
          ${
            known === undefined &&
            h(TextField, {
              label: 'Address',
              param: 'destination_address',
              value: typed,
              isRequired: true,
              placeholder: '0x…',
              hint: 'Nobody has proved that it belongs to the payer. A transfer cannot be taken back.',
              onValue: setTyped,
            })
          }
          ${
            !isProved &&
            h(TextField, {
              label: 'The same address, typed again',
              param: 'destination_confirmation',
              value: again,
              isRequired: true,
              placeholder: '0x…',
              onValue: setAgain,
            })
          }
          ${h(ReasonField, { value: reason, onValue: setReason })}
        `,
      })}
    </section>
    ${h(MoneyFacts, { options })}
  </div>`;
}

function optionOf({ address, source }: Options['destinations'][number]): readonly [string, string] {
  return [address, `${DESTINATION_SOURCES[source]}: ${shortened(address)}`];
}

function MoneyFacts({ options }: { options: Options }): VNode {
  const units = (value: string) => h(Amount, { units: value, of: options });
  return h(Card, {
    title: 'Money that arrived',
    children: h(Facts, {
      rows: [
        ['Received', units(options.amount_received)],
        ['Refunded or reserved', units(options.amount_reserved)],
        ['Can be refunded', units(options.amount_refundable)],
        ['Chain', h(ChainName, { id: options.chain_id })],
      ],
    }),
  });
}

openPage('Refund', NewRefund);
