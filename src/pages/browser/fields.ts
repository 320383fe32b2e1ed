import { html } from 'htm/preact';
import { type ComponentChildren, createContext, type VNode } from 'preact';
import { useContext, useId } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import { besideField, type Problem } from './problem.ts';

/** Problem of a form. Each field shows the part that concerns it. */
export const Refusal = createContext<Problem | undefined>(undefined);

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

/** Field with label, control, hint, and the API's error for it. */
function Field({
  label,
  param,
  hint,
  control,
}: FieldProps & { control: (attributes: ControlAttributes) => ComponentChildren }): VNode {
  const id = useId();
  const problem = useContext(Refusal);
  const error = problem?.param === param ? besideField(problem.message) : undefined;
  const attributes: ControlAttributes = {
    id,
    name: param,
    'aria-describedby': `${id}-hint ${id}-error`,
    'aria-invalid': error === undefined ? undefined : 'true',
  };
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${control(attributes)}
    <p class="hint" id=${`${id}-hint`} hidden=${!hint}>${hint}</p>
    <p class="field-error" id=${`${id}-error`} hidden=${error === undefined}>${error}</p>
  </div>`;
}

type Typed = InputEvent & {
  readonly currentTarget: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;
};

interface TextFieldProps extends FieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly type?: 'text' | 'email' | 'url' | 'number' | 'datetime-local' | 'textarea';
  readonly isRequired?: boolean;
  readonly placeholder?: string;
  readonly maxLength?: number;
  readonly isDisabled?: boolean;
  /** Text after the control, such as a token symbol. */
  readonly unit?: string | undefined;
}

/** Text field of one line or, as `textarea`, of several. */
export function TextField(props: TextFieldProps): VNode {
  const { value, onValue, type = 'text', isRequired, placeholder, maxLength, isDisabled, unit } = props;
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
    const input = html`<input type=${type} autocomplete="off" ...${shared} />`;
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
    isDisabled?: boolean;
  },
): VNode {
  const { value, onValue, options, isDisabled } = props;
  const control = (attributes: ControlAttributes) => html`<select
    ...${attributes}
    value=${value}
    disabled=${isDisabled}
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
  isChecked,
  onChecked,
  isDisabled = false,
}: {
  label: ComponentChildren;
  isChecked: boolean;
  onChecked: (isChecked: boolean) => void;
  isDisabled?: boolean;
}): VNode {
  return html`<label class="check">
    <input
      type="checkbox"
      checked=${isChecked}
      disabled=${isDisabled}
      onChange=${(event: Event & { currentTarget: HTMLInputElement }) => onChecked(event.currentTarget.checked)}
    />
    <span>${label}</span>
  </label>`;
}

function fieldOf({ label, param, hint }: FieldProps): FieldProps {
  return { label, param, hint };
}
