import { html } from 'htm/preact';
import { type ComponentChildren, createContext, type VNode } from 'preact';
import { useContext, useId } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import { besideField, type Problem } from './problem.ts';

/** Problems of a form. Each field shows the one that concerns it. */
export const Refusals = createContext<readonly Problem[]>([]);

/** Properties of every field. */
interface FieldProps {
  readonly label: ComponentChildren;
  /** Field in the notation of API errors: `items.0.amount`. */
  readonly param: string;
  readonly hint?: ComponentChildren;
}

/** Attributes that connect a control to its label, hint and error. */
interface ControlAttributes {
  readonly id: string;
  readonly name: string;
  readonly 'aria-describedby': string;
  readonly 'aria-invalid': 'true' | undefined;
}

/** Field with label, control, hint, and the reason for which it was refused. */
function Field({
  label,
  param,
  hint,
  control,
}: FieldProps & { control: (attributes: ControlAttributes) => ComponentChildren }): VNode {
  const id = useId();
  const reason = useReason(param);
  const attributes: ControlAttributes = {
    id,
    name: param,
    'aria-describedby': `${id}-hint ${id}-error`,
    'aria-invalid': reason === undefined ? undefined : 'true',
  };
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${control(attributes)}
    <p class="hint" id=${`${id}-hint`} hidden=${!hint}>${hint}</p>
    ${h(Reason, { id: `${id}-error`, reason })}
  </div>`;
}

/** Reason for which a field was refused; undefined for none. */
function useReason(param: string | undefined): string | undefined {
  const refused = useContext(Refusals).find(problem => param !== undefined && problem.param === param);
  return refused === undefined ? undefined : besideField(refused);
}

function Reason({ id, reason }: { id: string; reason: string | undefined }): VNode {
  return html`<p class="field-error" id=${id} hidden=${reason === undefined}>${reason}</p>`;
}

type Typed = InputEvent & {
  readonly currentTarget: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;
};
type Chosen = Event & { readonly currentTarget: HTMLInputElement };

interface TextFieldProps extends FieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly type?: 'text' | 'email' | 'tel' | 'url' | 'number' | 'datetime-local' | 'textarea';
  readonly isRequired?: boolean;
  readonly placeholder?: string | undefined;
  readonly maxLength?: number | undefined;
  readonly isDisabled?: boolean;
  /** Text after the control, such as a token symbol. */
  readonly unit?: string | undefined;
  /** Kind of value that browsers may fill in; nothing when absent. */
  readonly autocomplete?: string | undefined;
  /** Keyboard of a phone. */
  readonly inputMode?: 'decimal' | undefined;
  /** Regular expression for the whole value. */
  readonly pattern?: string | undefined;
  /** Numbers that are accepted; integers when absent. */
  readonly step?: 'any' | undefined;
}

/** Text field of one line or, as `textarea`, of several. */
export function TextField(props: TextFieldProps): VNode {
  const { value, onValue, type = 'text', isRequired, placeholder, maxLength, isDisabled, unit } = props;
  const { autocomplete = 'off', inputMode, pattern, step } = props;
  const control = (attributes: ControlAttributes) => {
    const shared = {
      ...attributes,
      value,
      placeholder,
      required: isRequired,
      disabled: isDisabled,
      maxLength,
      onInput: (event: Typed) => onValue(event.currentTarget.value),
    };
    if (type === 'textarea') return html`<textarea rows="3" ...${shared}></textarea>`;
    const input = html`<input
      type=${type}
      autocomplete=${autocomplete}
      inputmode=${inputMode}
      pattern=${pattern}
      step=${step}
      ...${shared}
    />`;
    return unit === undefined ? input : html`<span class="with-unit">${input}<span>${unit}</span></span>`;
  };
  return h(Field, { ...fieldOf(props), control });
}

/** Field to select one value. */
export function SelectField<Value extends string>(
  props: FieldProps & {
    value: Value;
    onValue: (value: Value) => void;
    options: readonly (readonly [value: Value, text: string])[];
    isRequired?: boolean;
    isDisabled?: boolean;
    autocomplete?: string;
  },
): VNode {
  const { value, onValue, options, isRequired, isDisabled, autocomplete } = props;
  const control = (attributes: ControlAttributes) => html`<select
    ...${attributes}
    value=${value}
    required=${isRequired}
    disabled=${isDisabled}
    autocomplete=${autocomplete}
    onInput=${({ currentTarget }: Typed) => {
      const [chosen] = options.find(([id]) => id === currentTarget.value) ?? [];
      if (chosen !== undefined) onValue(chosen);
    }}
  >
    ${options.map(([id, text]) => html`<option key=${id} value=${id} selected=${id === value}>${text}</option>`)}
  </select>`;
  return h(Field, { ...fieldOf(props), control });
}

/** Checkbox with a label. */
export function CheckField({
  label,
  param,
  isChecked,
  onChecked,
  isRequired = false,
  isDisabled = false,
}: {
  label: ComponentChildren;
  /** As in `FieldProps`; absent for a checkbox that the API does not refuse. */
  param?: string;
  isChecked: boolean;
  onChecked: (isChecked: boolean) => void;
  isRequired?: boolean;
  isDisabled?: boolean;
}): VNode {
  const id = useId();
  const reason = useReason(param);
  return html`<div class="field">
    <label class="check">
      <input
        type="checkbox"
        name=${param}
        checked=${isChecked}
        required=${isRequired}
        disabled=${isDisabled}
        aria-describedby=${id}
        aria-invalid=${reason === undefined ? undefined : 'true'}
        onChange=${(event: Chosen) => onChecked(event.currentTarget.checked)}
      />
      <span>${label}</span>
    </label>
    ${h(Reason, { id, reason })}
  </div>`;
}

/** One of the choices of a `ChoiceField`. */
interface ShownChoice {
  readonly id: string;
  readonly name: string;
  /** Smaller text below the name. */
  readonly detail?: string | undefined;
  /** Text at the end of the line, such as a price. */
  readonly aside: string;
}

/** Field to choose one of a few options, all of which are shown. */
export function ChoiceField({
  label,
  param,
  value,
  onValue,
  choices,
}: FieldProps & { value: string; onValue: (id: string) => void; choices: readonly ShownChoice[] }): VNode {
  const error = useId();
  const reason = useReason(param);
  return html`<fieldset class="field">
    <legend>${label}</legend>
    ${choices.map(
      ({ id, name, detail, aside }) => html`<label key=${id} class="choice">
        <input
          type="radio"
          name=${param}
          value=${id}
          required
          checked=${id === value}
          aria-describedby=${error}
          onChange=${() => onValue(id)}
        />
        <span class="choice-name">
          ${name}${detail !== undefined && html`<span class="choice-detail">${detail}</span>`}
        </span>
        <span class="choice-amount">${aside}</span>
      </label>`,
    )}
    ${h(Reason, { id: error, reason })}
  </fieldset>`;
}

function fieldOf({ label, param, hint }: FieldProps): FieldProps {
  return { label, param, hint };
}
