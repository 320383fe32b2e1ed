import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Badge } from '#pages/browser/layout.ts';
import { clipped } from '#pages/browser/reference.ts';
import { CodeText } from '../records/code-text.ts';
import { type AbiEntry, abiEntries } from './abi-entries.ts';

const MOST_ENTRIES = 500;
const SIGNATURE_CHARACTERS = 400;

const GROUPS: readonly (readonly [title: string, holds: (entry: AbiEntry) => boolean])[] = [
  ['Functions that read', ({ kind, mutability }) => kind === 'function' && isReading(mutability)],
  ['Functions that write', ({ kind, mutability }) => kind === 'function' && !isReading(mutability)],
  ['Events', ({ kind }) => kind === 'event'],
  ['Errors', ({ kind }) => kind === 'error'],
  ['Others', ({ kind }) => !['function', 'event', 'error'].includes(kind)],
];

/** ABI of a contract, as signatures and as JSON. */
export function ContractAbi({ abi }: { abi: string }): VNode {
  const entries = abiEntries(abi);
  return html`<section class="stack">
    <h3>Interface (ABI)</h3>
    ${entries.length > MOST_ENTRIES && html`<p class="small">The first ${MOST_ENTRIES} of ${entries.length} entries.</p>`}
    ${GROUPS.map(
      ([title, holds]) => html`<${Group}
      key=${title}
      title=${title}
      entries=${entries.slice(0, MOST_ENTRIES).filter(holds)}
    />`,
    )}
    <details><summary>JSON</summary><${CodeText} label="ABI in JSON" value=${indented(abi)} /></details>
  </section>`;
}

function Group({ title, entries }: { title: string; entries: readonly AbiEntry[] }): VNode | null {
  if (entries.length === 0) return null;
  return html`<details open>
    <summary>${title} (${entries.length})</summary>
    <ul class="signatures plain" aria-label=${title}>
      ${entries.map(
        ({ signature, mutability, isAnonymous }, position) => html`<li key=${position}>
          <code>${clipped(signature, SIGNATURE_CHARACTERS)}</code>
          ${mutability === 'payable' && html` <${Badge} tone="warning">takes coins<//>`}
          ${isAnonymous && html` <${Badge}>anonymous<//>`}
        </li>`,
      )}
    </ul>
  </details>`;
}

function isReading(mutability: string | undefined): boolean {
  return mutability === 'view' || mutability === 'pure';
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), undefined, 2);
  } catch {
    return json;
  }
}
