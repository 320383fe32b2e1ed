import { html } from 'htm/preact';
import type { VNode } from 'preact';

/** Selectable value with its label. */
export type Choice<Value> = readonly [value: Value, label: string];

/** Group of buttons with one pressed, for narrowing a list. */
export function Choices<Value>({
  label,
  choices,
  chosen,
  choose,
}: {
  label: string;
  choices: readonly Choice<Value>[];
  chosen: Value;
  choose: (value: Value) => void;
}): VNode {
  return html`<div class="choices row" role="group" aria-label=${label}>
    ${choices.map(
      ([value, text]) => html`<button
        key=${text}
        type="button"
        aria-pressed=${value === chosen}
        onClick=${() => choose(value)}
      >${text}</button>`,
    )}
  </div>`;
}
