import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { TextField } from '#pages/browser/fields.ts';
import type { Fact } from '#pages/browser/layout.ts';

interface ToleranceFieldProps {
  /** In percent, as typed. */
  readonly value: string;
  readonly hint: string;
  readonly isRequired?: boolean;
  readonly onValue: (percent: string) => void;
}

/** Field for the share of a price that a payment may be short of and still counts as paid (Decision 348). */
export function ToleranceField(props: ToleranceFieldProps): VNode {
  return h(TextField, {
    ...props,
    label: 'Accept as paid when short by up to',
    param: 'payment_tolerance',
    type: 'number',
    step: 'any',
    unit: '%',
  });
}

/** Row with a tolerance in percent; omitted for null. */
export function toleranceFact(percent: number | null): Fact {
  return ['Payments may be short by', percent !== null && `${percent} %`];
}
