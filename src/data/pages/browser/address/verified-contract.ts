import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import { Badge } from '#pages/browser/layout.ts';
import { clipped } from '#pages/browser/reference.ts';
import type { Explorer } from '../api.ts';
import { CodeText } from '../records/code-text.ts';
import { type AbiEntry, abiEntries } from './abi-entries.ts';

type SourceFile = Explorer['ContractSource'];

const PATH_CHARACTERS = 120;
const SHOWN_CHARACTERS = 200_000;

/** Source files of a contract, with the main one open. */
export function ContractSources({ contract }: { contract: Explorer['SmartContract'] }): VNode | null {
  const {
    source_code: main,
    file_path,
    additional_sources: others = [],
    compiler_settings: settings,
  } = contract;
  if (main === undefined) return null;
  const path = file_path || `${contract.name ?? 'Contract'}`;
  return html`<section class="stack">
    <h3>Source code</h3>
    ${h(File, { file: { file_path: path, source_code: main }, isOpen: true })}
    ${others.map(file => h(File, { key: file.file_path, file }))}
    ${
      settings !== undefined &&
      h(File, {
        file: { file_path: 'Compiler settings', source_code: JSON.stringify(settings, undefined, 2) },
      })
    }
  </section>`;
}

/** One source file. Its text is rendered only when opened, because a contract may have hundreds of files. */
function File({ file, isOpen = false }: { file: SourceFile; isOpen?: boolean }): VNode {
  const [open, setOpen] = useState(isOpen);
  const path = clipped(file.file_path, PATH_CHARACTERS);
  return html`<details
    open=${open}
    onToggle=${(event: Event & { currentTarget: HTMLDetailsElement }) => setOpen(event.currentTarget.open)}
  >
    <summary><code>${path}</code></summary>
    ${open && h(CodeText, { label: path, value: file.source_code, most: SHOWN_CHARACTERS })}
  </details>`;
}

const MAX_ENTRIES = 500;
/** Number of entries from which on they can be searched. */
const FILTERED_FROM = 20;
const SIGNATURE_CHARACTERS = 400;

const GROUPS: readonly (readonly [title: string, holds: (entry: AbiEntry) => boolean])[] = [
  ['Read functions', ({ kind, mutability }) => kind === 'function' && isReading(mutability)],
  ['Write functions', ({ kind, mutability }) => kind === 'function' && !isReading(mutability)],
  ['Events', ({ kind }) => kind === 'event'],
  ['Errors', ({ kind }) => kind === 'error'],
  ['Other', ({ kind }) => !['function', 'event', 'error'].includes(kind)],
];

/** ABI of a contract, as signatures and as JSON. */
export function ContractAbi({ abi }: { abi: string }): VNode {
  const all = useMemo(() => abiEntries(abi), [abi]);
  const [word, setWord] = useState('');
  const entries = all.filter(({ signature }) => signature.toLowerCase().includes(word.trim().toLowerCase()));
  return html`<section class="stack">
    <h3>Contract ABI</h3>
    ${all.length > FILTERED_FROM && h(EntryFilter, { word, setWord, found: entries.length })}
    ${entries.length > MAX_ENTRIES && html`<p class="small">The first ${MAX_ENTRIES} of ${entries.length} entries.</p>`}
    ${GROUPS.map(([title, holds]) =>
      h(Group, { key: title, title, entries: entries.slice(0, MAX_ENTRIES).filter(holds) }),
    )}
    <details><summary>JSON</summary>${h(CodeText, { label: 'ABI as JSON', value: indented(abi) })}</details>
  </section>`;
}

function EntryFilter({
  word,
  setWord,
  found,
}: {
  word: string;
  setWord: (word: string) => void;
  found: number;
}): VNode {
  const onInput = (event: InputEvent & { currentTarget: HTMLInputElement }) =>
    setWord(event.currentTarget.value);
  return html`<p class="row" role="search" aria-label="ABI">
    <input type="search" aria-label="Find in the ABI" placeholder="Name or type" value=${word} onInput=${onInput} />
    <span class="small" role="status">${word.trim() !== '' && `${found} found`}</span>
  </p>`;
}

function Group({ title, entries }: { title: string; entries: readonly AbiEntry[] }): VNode | null {
  if (entries.length === 0) return null;
  return html`<details open>
    <summary>${title} (${entries.length})</summary>
    <ul class="signatures plain" aria-label=${title}>
      ${entries.map(
        ({ signature, mutability, isAnonymous }, position) => html`<li key=${position}>
          <code>${clipped(signature, SIGNATURE_CHARACTERS)}</code>
          ${mutability === 'payable' && html` ${h(Badge, { tone: 'warning', children: 'payable' })}`}
          ${isAnonymous && html` ${h(Badge, { children: 'anonymous' })}`}
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
