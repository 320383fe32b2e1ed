import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import { TextField } from '#pages/browser/fields.ts';
import { useTexts } from '../texts.ts';

/** Reports what a payer typed. Resolves to a text for the payer; never rejects. */
export type PaymentReporter = (typed: string) => Promise<string>;

/** Form of a payer whose payment does not show. It only helps to find the payment (Decision 343). */
export function ReportPayment({ report }: { report: PaymentReporter }): VNode {
  const { report: words } = useTexts();
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
    <summary>${words.title}</summary>
    <form onSubmit=${submit}>
      ${h(TextField, {
        label: words.label,
        param: 'payment',
        value: typed,
        isRequired: true,
        placeholder: '0x…',
        hint: words.hint,
        onValue: setTyped,
      })}
      <button class="secondary" disabled=${isBusy}>${words.look}</button>
      <p class="note" role="status">${said}</p>
    </form>
  </details>`;
}
