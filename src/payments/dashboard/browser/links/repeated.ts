import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';

/** A list of parts of a form, to which parts are added and from which they are removed. */
export function Repeated<Part>({
  name,
  parts,
  onParts,
  empty,
  view,
}: {
  /** One part: `item`. */
  name: string;
  parts: readonly Part[];
  onParts: (parts: readonly Part[]) => void;
  /** A new part. */
  empty: Part;
  /** The fields of a part; `change` takes what of it changes. */
  view: (part: Part, index: number, change: (changes: Partial<Part>) => void) => ComponentChildren;
}): VNode {
  return html`<div class="stack">
    ${parts.map(
      (part, index) => html`<fieldset class="part" key=${index}>
        <legend>${capitalised(name)} ${index + 1}</legend>
        ${view(part, index, changes => onParts(parts.with(index, { ...part, ...changes })))}
        <div>
          <button type="button" onClick=${() => onParts(parts.toSpliced(index, 1))}>
            Remove ${name} ${index + 1}
          </button>
        </div>
      </fieldset>`,
    )}
    <div><button type="button" onClick=${() => onParts([...parts, empty])}>Add ${name}</button></div>
  </div>`;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
