import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { CopyButton, clipped } from '#pages/browser/reference.ts';

const SHOWN_CHARACTERS = 20_000;

/** Data or code in its own box, with a button that copies all of it. Long text is truncated on the screen. */
export function CodeText({
  label,
  value,
  most = SHOWN_CHARACTERS,
}: {
  label: string;
  value: string;
  /** Maximum number of characters on the screen. */
  most?: number;
}): VNode {
  const cut = value.length > most;
  return html`<div class="code">
    <pre tabindex="0" role="region" aria-label=${label}>${clipped(value, most)}</pre>
    <p class="row small">
      ${h(CopyButton, { text: value, label: `Copy: ${label}` })}
      ${cut && `The first ${most} of ${value.length} characters; copying takes all of them.`}
    </p>
  </div>`;
}
