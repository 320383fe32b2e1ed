import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { CopyButton, clipped } from '#pages/browser/reference.ts';

const SHOWN_CHARACTERS = 20_000;

/** Data or code in a box of its own, to copy whole. What is longer than a page can bear is cut off on the screen. */
export function CodeText({ label, value }: { label: string; value: string }): VNode {
  const cut = value.length > SHOWN_CHARACTERS;
  return html`<div class="code">
    <pre tabindex="0" role="region" aria-label=${label}>${clipped(value, SHOWN_CHARACTERS)}</pre>
    <p class="row small">
      <${CopyButton} text=${value} label=${`Copy: ${label}`} />
      ${cut && `The first ${SHOWN_CHARACTERS} of ${value.length} characters; copying takes all of them.`}
    </p>
  </div>`;
}
