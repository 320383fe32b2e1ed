import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { CopyButton } from '#pages/browser/reference.ts';

/** Secret that the API returns only once. */
export function Secret({ label, value }: { label: string; value: string }): VNode {
  return html`<div class="stack">
    <p><strong>${label}</strong> It is shown only once: copy it now.</p>
    <p class="reference">
      <code class="secret">${value}</code>
      ${h(CopyButton, { text: value, label: 'Copy secret' })}
    </p>
  </div>`;
}
