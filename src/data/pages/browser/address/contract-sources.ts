import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { clipped } from '#pages/browser/reference.ts';
import type { Explorer } from '../api.ts';
import { CodeText } from '../records/code-text.ts';

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
    <h3>Source</h3>
    <${File} file=${{ file_path: path, source_code: main }} isOpen />
    ${others.map(file => html`<${File} key=${file.file_path} file=${file} />`)}
    ${
      settings !== undefined &&
      html`<${File} file=${{ file_path: 'Compiler settings', source_code: JSON.stringify(settings, undefined, 2) }} />`
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
    ${open && html`<${CodeText} label=${path} value=${file.source_code} most=${SHOWN_CHARACTERS} />`}
  </details>`;
}
