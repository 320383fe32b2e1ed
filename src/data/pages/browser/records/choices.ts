import { html } from 'htm/preact';
import type { VNode } from 'preact';

/** A value to choose, and its label. */
export type Choice<Value> = readonly [value: Value, label: string];

/** Buttons of which one is pressed, for what a list is narrowed to. */
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
