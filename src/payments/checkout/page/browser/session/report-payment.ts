import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import { TextField } from '#pages/browser/fields.ts';

/** Reports what a payer typed. Resolves to a text for the payer; never rejects. */
export type PaymentReporter = (typed: string) => Promise<string>;

/** Form of a payer whose payment does not show. It only helps to find the payment (Decision 343). */
export function ReportPayment({ report }: { report: PaymentReporter }): VNode {
  const [typed, setTyped] = useState('');
  const [said, setSaid] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setSaid(await report(typed.trim()));
    setBusy(false);
  };
  return html`<details class="fold">
    <summary>I have paid</summary>
    <form onSubmit=${submit}>
      ${h(TextField, {
        label: 'Hash of the transaction, or the address that sent it',
        param: 'payment',
        value: typed,
        isRequired: true,
        placeholder: '0x…',
        hint: 'Your wallet or exchange shows it. This looks for the payment and sends nothing.',
        onValue: setTyped,
      })}
      <button class="secondary" disabled=${isBusy}>Look for it</button>
      <p class="note" role="status">${said}</p>
    </form>
  </details>`;
}
