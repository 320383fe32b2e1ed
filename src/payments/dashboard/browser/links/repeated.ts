import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';

/** List of form parts with buttons to add and remove parts. */
export function Repeated<Part>({
  name,
  parts,
  onParts,
  empty,
  view,
}: {
  /** Name of one part, for example `item`. */
  name: string;
  parts: readonly Part[];
  onParts: (parts: readonly Part[]) => void;
  /** Values of a new part. */
  empty: Part;
  /** Renders the fields of a part. `change` takes the changed properties. */
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
