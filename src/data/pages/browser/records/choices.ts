import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { changeAddress, FIRST_PAGE, useAddress } from '#pages/browser/show.ts';

/** Selectable value with its label. */
export type Choice<Value> = readonly [value: Value, label: string];

/** Value of the choice that is not in the address. */
const NONE = 'all';

/**
 * The chosen value, kept as a parameter of the page's address. The first choice is the one without the parameter. A
 * choice shows the first page.
 */
export function useChoice<Value extends string | undefined>(
  name: string,
  choices: readonly Choice<Value>[],
): readonly [chosen: Value | undefined, choose: (value: Value | undefined) => void] {
  const written = useAddress().get(name);
  const [first] = choices[0] ?? [undefined];
  const chosen = choices.find(([value]) => (value ?? NONE) === written)?.[0];
  const isWritten = choices.some(([value]) => (value ?? NONE) === written);
  return [
    isWritten ? chosen : first,
    value => changeAddress({ ...FIRST_PAGE, [name]: value === first ? undefined : (value ?? NONE) }),
  ];
}

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
