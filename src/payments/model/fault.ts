import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';

/** Why a request cannot be met, as its client is told. */
export interface FieldError {
  readonly code: PaymentsSchemas['ErrorCode'];
  readonly message: string;
  /** `param` is the place in the body with dots; absent when no single one is at fault. */
  readonly facts: { readonly param?: string };
}

/** Takes note of a fault; what goes on after it is judged all the same. */
export type Report = (fault: FieldError) => void;

/** A field that is needed and not there. */
export function missing(param: string): FieldError {
  return { code: 'missing_required_field', message: `The '${param}' field is required.`, facts: { param } };
}

/** A field that is there and breaks a rule, such as `must be one of S, M`. */
export function wrong(param: string, rule: string): FieldError {
  return { code: 'invalid_field_value', message: `The '${param}' field ${rule}.`, facts: { param } };
}

/** What the state of a record does not allow; `message` is a whole sentence. */
export function notNow(message: string): FieldError {
  return { code: 'invalid_status_transition', message, facts: {} };
}

/** The fault that is told: a missing field comes before a wrong one (Decision 100). */
export function firstOf(faults: readonly FieldError[]): FieldError | undefined {
  return faults.find(({ code }) => code === 'missing_required_field') ?? faults[0];
}
