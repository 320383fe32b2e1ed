import { html } from 'htm/preact';
import { Fragment, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { components } from '#generated/payments/types.ts';
import { useChange } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import type { Problem } from '#pages/browser/problem.ts';
import type { Texts } from '#payments/browser/languages/en.ts';
import { Contact, type ContactFacts } from '../contact.ts';
import { type Offer, OfferSummary } from '../offer.ts';
import { NextUse } from '../session/payer-parts.ts';
import { useTexts } from '../texts.ts';
import type { Typed } from './payer-fields.ts';
import { faultsOf, startBody } from './start-body.ts';
import { initialValues, StartForm, type StartTerms, shippingOf, totalOf } from './start-form.ts';

/** Data of a link's page. */
export interface LinkData {
  readonly shortCode: string;
  readonly offer: Omit<Offer, 'total' | 'extras'>;
  readonly terms: StartTerms;
  /** The merchant's own id of the checkout, from the URL that the payer opened; null when it had none. */
  readonly reference: string | null;
  /** Why the link cannot be paid; null when it can. */
  readonly closed: ClosedReason | null;
}

interface ClosedReason {
  readonly name: keyof Texts['closed'];
  /** Time at which it may be paid again; null when none is known. */
  readonly nextUseAt: string | null;
  readonly contact: ContactFacts;
}

export interface LinkCheckoutProps {
  readonly data: LinkData;
  /** Values that the payer typed before the script was loaded. */
  readonly typedBefore?: Typed;
  /** Starts a checkout; absent until a script can. @throws Problem */
  readonly onStart?: (body: components['schemas']['CheckoutStart']) => Promise<unknown>;
}

/** The offer of a link and the form that starts a checkout. */
export function LinkCheckout({ data, typedBefore = {}, onStart }: LinkCheckoutProps): VNode {
  const texts = useTexts();
  const { terms, reference, closed } = data;
  const [changed, setChanged] = useState(typedBefore);
  const [faults, setFaults] = useState<readonly Problem[]>([]);
  const { isBusy, problem, run, clear } = useChange();
  const typed = { ...initialValues(terms), ...changed };
  const onTyped = (param: string, text: string) => {
    clear();
    setFaults(before => before.filter(fault => fault.param !== param));
    setChanged(before => ({ ...before, [param]: text }));
  };
  const submit = (form: HTMLFormElement) => {
    const found = faultsOf(form, { terms, texts }, typed);
    setFaults(found);
    if (found.length === 0)
      run(async () => onStart?.(startBody(terms, typed, { reference, language: texts.language })));
  };
  const refusals = problem === undefined ? faults : [problem];
  const onSubmit = onStart === undefined ? undefined : submit;
  return h(Fragment, {
    children: html`
      ${h(OfferSummary, { offer: offerWith(data, typed, texts) })}
      <section class="payment" id="payment" aria-label=${texts.form.payment} tabindex="-1">
        ${
          closed === null
            ? h(StartForm, { terms, typed, onTyped, refusals, isBusy, onSubmit })
            : h(Closed, { reason: closed })
        }
      </section>
    `,
  });
}

/** The offer with the amount that is typed and the shipping that is selected. */
function offerWith({ offer, terms }: LinkData, typed: Typed, texts: Texts): Offer {
  const shipping = { name: texts.offer.shipping, amount: String(shippingOf(terms, typed)) };
  return {
    ...offer,
    total: totalOf(terms, typed)?.toString() ?? null,
    extras: terms.shippingOptions.length === 0 ? [] : [shipping],
  };
}

function Closed({ reason }: { reason: ClosedReason }): VNode {
  const { closed, page } = useTexts();
  const { name, nextUseAt, contact } = reason;
  const { title, text } = closed[name];
  return html`<div class="status-panel calm" role="status" data-state-name=${name}>
    <div>
      <h2>${title}</h2>
      <p>${text}${nextUseAt !== null && h(NextUse, { at: nextUseAt })}</p>
      ${name === 'reserved' && html`<p><a href="">${page.tryAgain}</a></p>`}
      ${h(Contact, { merchant: contact })}
    </div>
  </div>`;
}
