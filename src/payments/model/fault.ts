import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';

/** Reason for refusing a request, as its client reads it. */
export interface FieldError {
  readonly code: PaymentsSchemas['ErrorCode'];
  readonly message: string;
  /** `param` is the path of the field in the body, with dots; absent when no single field is at fault. */
  readonly facts: { readonly param?: string };
}

/** Records a fault. The checks after it still run. */
export type ReportFault = (fault: FieldError) => void;

/** Fault of a missing field that is required. */
export function missing(param: string): FieldError {
  return { code: 'missing_required_field', message: `The '${param}' field is required.`, facts: { param } };
}

/** Fault of a field that breaks a rule, such as `must be one of S, M`. */
export function wrong(param: string, rule: string): FieldError {
  return { code: 'invalid_field_value', message: `The '${param}' field ${rule}.`, facts: { param } };
}

/** Fault of a request that the record's state does not allow; `message` is a whole sentence. */
export function notNow(message: string): FieldError {
  return { code: 'invalid_status_transition', message, facts: {} };
}

/** The fault to answer with. A missing field comes before a wrong one (Decision 100). */
export function firstFault(faults: readonly FieldError[]): FieldError | undefined {
  return faults.find(({ code }) => code === 'missing_required_field') ?? faults[0];
}
