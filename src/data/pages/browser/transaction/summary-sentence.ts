import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { clipped, Name, Reference } from '#pages/browser/reference.ts';
import { isBlank } from '#pages/browser/text-direction.ts';
import { api, type Explorer, pageOf } from '../api.ts';
import { ownName } from '../records/address-reference.ts';
import { useChain } from '../records/coin.ts';
import { Units } from '../records/figures.ts';

type Summary = Explorer['Summary'];

const PLACEHOLDER = /\{(\w+)\}/;
const DECIMAL = /^\d{1,80}(?:\.\d{1,80})?$/;
const TEXT_CHARACTERS = 120;
const SHOWN_SENTENCES = 4;

/** Sentences that describe a transaction; renders nothing if no back end has them. */
export function SummarySentence({ chainId, hash }: { chainId: number; hash: string }): VNode | null {
  const { answer, problem } = useAnswer(
    signal =>
      api.GET('/explorer/transactions/{transaction_hash}/summary', {
        params: { path: { transaction_hash: hash }, query: { chain_id: chainId } },
        signal,
      }),
    [hash],
  );
  const symbol = useChain(chainId)?.native?.symbol ?? '';
  const summaries = answer?.data.success === true ? answer.data.data.summaries : [];
  // A line keeps the place of the first sentence.
  if (answer === undefined && problem === undefined) return html`<p aria-hidden="true">\u00a0</p>`;
  if (summaries.length === 0) return null;
  const list = (
    some: readonly Summary[],
    label: string,
  ) => html`<ul class="plain sentences" aria-label=${label}>
    ${some.map((summary, index) => html`<li key=${index}>${sentence(summary, { chainId, symbol })}</li>`)}
  </ul>`;
  const [first, more] = [summaries.slice(0, SHOWN_SENTENCES), summaries.slice(SHOWN_SENTENCES)];
  return html`<div>
    ${list(first, 'What the transaction did')}
    ${
      more.length > 0 &&
      html`<details>
        <summary>${more.length} more</summary>
        ${list(more, 'What else the transaction did')}
      </details>`
    }
  </div>`;
}

interface ChainOfSummary {
  readonly chainId: number;
  readonly symbol: string;
}

/** Fills in the placeholders of a sentence. A placeholder without a value is omitted. */
function sentence(
  { summary_template, summary_template_variables }: Summary,
  chain: ChainOfSummary,
): ComponentChildren[] {
  return summary_template.split(PLACEHOLDER).map((part, index) => {
    if (index % 2 === 0) return clipped(part, TEXT_CHARACTERS);
    if (part === 'native') return chain.symbol;
    if (part === 'wei') return 'wei';
    const variable = Object.hasOwn(summary_template_variables, part)
      ? summary_template_variables[part]
      : undefined;
    if (variable === undefined) return '';
    const shown = shownValue(variable, chain.chainId);
    return part === 'token_id' ? ['#', shown] : shown;
  });
}

function shownValue({ type, value }: Explorer['SummaryVariable'], chainId: number): ComponentChildren {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string' && type === 'currency' && DECIMAL.test(value)) {
    const [whole = '', fraction = ''] = value.split('.');
    return html`<strong>${h(Units, { amount: whole + fraction, decimals: fraction.length })}</strong>`;
  }
  if (typeof value === 'string') {
    const text = clipped(value, TEXT_CHARACTERS);
    return type === 'method' || type === 'currency' ? html`<strong>${text}</strong>` : text;
  }
  const { hash, address, name, symbol } = factsOf(value);
  const label = clipped(symbol || name || '') || undefined;
  if (hash !== undefined && type === 'address')
    return html`${h(Reference, { value: hash, href: pageOf.address(chainId, hash) })}${label !== undefined && !isBlank(label) && h(Name, ownName(label))}`;
  if (address !== undefined && type === 'token')
    return h(Reference, { value: address, name: label, href: pageOf.token(chainId, address) });
  return label;
}

/** Texts of an address or token record. Read defensively, because the contract does not define its shape. */
function factsOf(value: unknown): { [Key in 'hash' | 'address' | 'name' | 'symbol']?: string | undefined } {
  if (typeof value !== 'object' || value === null) return {};
  const texts: Readonly<Record<string, unknown>> = { ...value };
  const text = (key: string) => (typeof texts[key] === 'string' ? texts[key] : undefined);
  return { hash: text('hash'), address: text('address'), name: text('name'), symbol: text('symbol') };
}
