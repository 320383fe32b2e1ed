import type { ErrorObject } from 'ajv';
import { HttpError } from '../http/errors.ts';

/** A parameter that breaks a rule of the contract: 400, naming the parameter and the rule. */
export class InvalidParameter extends HttpError {
  readonly parameter: string;
  constructor(parameter: string, rule: string) {
    super(400, `${parameter}: ${rule}`);
    this.name = 'InvalidParameter';
    this.parameter = parameter;
  }
}

/** The first finding of a generated parameter validator, in words for the client. */
export function parameterViolation(errors: readonly ErrorObject[] | null | undefined): InvalidParameter {
  const error = errors?.[0];
  if (error === undefined) return new InvalidParameter('parameters', 'are not valid');
  const [, , name, index] = error.instancePath.split('/');
  const missing: unknown = error.params.missingProperty;
  const parameter = name ?? (typeof missing === 'string' ? missing : 'parameters');
  return new InvalidParameter(
    parameter,
    index === undefined ? rule(error) : `value ${Number(index) + 1} ${rule(error)}`,
  );
}

function rule(error: ErrorObject): string {
  const { allowedValues }: { allowedValues?: unknown } = error.params;
  if (error.keyword === 'enum' && Array.isArray(allowedValues))
    return `must be one of ${allowedValues.join(', ')}`;
  if (error.keyword === 'required') return 'is required';
  // A regular expression tells a client less than the parameter's description does.
  if (error.keyword === 'pattern') return 'must match the form that the contract describes';
  return error.message ?? 'is not valid';
}

/** Where and how a body differs from its schema, for our own log: one line a finding. */
export function describeErrors(errors: readonly ErrorObject[] | null | undefined): string {
  return (errors ?? [])
    .map(error => `${error.instancePath || '/'} ${rule(error)} ${JSON.stringify(error.params)}`)
    .join('; ');
}
