import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { StatusMessage } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { CopyButton } from '#pages/browser/reference.ts';

/** Secret that the API returns only once. */
interface ShownSecret {
  /** Sentence that says what it is. */
  readonly label: string;
  readonly value: string;
  /** Next step, such as a link to a guide. */
  readonly next?: ComponentChildren;
}

/** Secrets of a page. Each stays until it is dismissed, whatever else is done on the page. */
export function useSecrets(): {
  readonly add: (secret: ShownSecret) => void;
  readonly view: VNode;
} {
  const [shown, setShown] = useState<readonly ShownSecret[]>([]);
  const dismiss = (value: string) => setShown(before => before.filter(one => one.value !== value));
  return {
    add: secret => setShown(before => [...before, secret]),
    view: h(StatusMessage, {
      children:
        shown.length > 0 &&
        shown.map(
          secret => html`<div class="stack secret-box" key=${secret.value}>
            <p><strong>${secret.label}</strong> It is shown only once: copy it now.</p>
            <p class="reference">
              <code class="secret">${secret.value}</code>
              ${h(CopyButton, { text: secret.value, label: 'Copy secret' })}
            </p>
            ${secret.next}
            <div><button type="button" onClick=${() => dismiss(secret.value)}>I have copied it</button></div>
          </div>`,
        ),
    }),
  };
}
