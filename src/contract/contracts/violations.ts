import type { ErrorObject } from 'ajv';
import { type ErrorFacts, HttpError } from '../../http/errors.ts';
import { brokenRule, didYouMean } from '../../lib/broken-rule.ts';

/** Error 400 for an invalid parameter. It names the parameter and the rule. */
export class InvalidParameter extends HttpError {
  readonly parameter: string;
  constructor(parameter: string, rule: string) {
    super(400, `${parameter}: ${rule}`, { code: 'invalid_field_value', param: parameter });
    this.name = 'InvalidParameter';
    this.parameter = parameter;
  }
}

/** Maximum length of an unknown name that is shown to the client or compared with known names. */
const SHOWN_NAME = 64;

/** Shortens an unknown name for display. */
export function shownName(name: string): string {
  return name.length > SHOWN_NAME ? `${name.slice(0, SHOWN_NAME)}…` : name;
}

/** Known name close to an unknown one; undefined when none is, or when the name is too long to be a misspelling. */
export function nearName(name: string, known: readonly string[]): string | undefined {
  return name.length > SHOWN_NAME ? undefined : didYouMean(name, known);
}

/** Converts the first error of a generated parameter validator to an error for the client. */
export function parameterViolation(
  parameter: string,
  errors: readonly ErrorObject[] | null | undefined,
): InvalidParameter {
  const error = errors?.[0];
  if (error === undefined) return new InvalidParameter(parameter, 'is not valid');
  const [, index] = error.instancePath.split('/');
  return new InvalidParameter(
    parameter,
    index === undefined ? brokenRule(error) : `value ${Number(index) + 1} ${brokenRule(error)}`,
  );
}

/** Error 400 for an invalid body. `path` is the field as a dotted path, or empty for the whole body. */
export class InvalidBody extends HttpError {
  constructor(path: string, rule: string, facts: Omit<ErrorFacts, 'param'> = {}) {
    const param = path === '' ? undefined : path;
    const sentence = param === undefined ? `The body ${rule}` : `The '${param}' field ${rule}`;
    const text = sentence.endsWith('?') ? sentence : `${sentence}.`;
    super(400, text, { code: 'invalid_field_value', ...facts, param });
    this.name = 'InvalidBody';
  }
}

/** Pattern of addresses in bodies. A violation has its own error code. */
const ADDRESS = '^0x[0-9a-fA-F]{40}$';

/** Converts the first error of a generated body validator to an error for the client. */
export function bodyViolation(errors: readonly ErrorObject[] | null | undefined): InvalidBody {
  const error = errors?.[0];
  if (error === undefined) return new InvalidBody('', 'is not valid');
  const path = error.instancePath.split('/').slice(1).map(unescaped);
  if (error.keyword === 'required') {
    return new InvalidBody([...path, String(error.params.missingProperty)].join('.'), 'is required', {
      code: 'missing_required_field',
    });
  }
  if (error.keyword === 'minProperties' && path.length === 0) return nothingToChange();
  if (error.keyword === 'additionalProperties') {
    return unknownField(path, String(error.params.additionalProperty), knownFields(error));
  }
  if (error.propertyName !== undefined) return wrongKey(path, error.propertyName, error);
  const facts =
    error.keyword === 'pattern' && error.params.pattern === ADDRESS ? { code: 'invalid_address' } : {};
  return new InvalidBody(path.join('.'), brokenRule(error), facts);
}

/** Error for an invalid key of a free-form object. */
function wrongKey(path: readonly string[], key: string, error: ErrorObject): InvalidBody {
  return new InvalidBody(path.join('.'), `has the key '${shownName(key)}': a key ${brokenRule(error)}`);
}

/** Field names known to the schema at an error. */
export function knownFields({ parentSchema = {} }: ErrorObject): readonly string[] {
  return Object.keys(parentSchema.properties ?? {});
}

/** Error for an unknown field: unknown fields are refused (Decision 168). */
function unknownField(path: readonly string[], name: string, known: readonly string[]): InvalidBody {
  const meant = nearName(name, known);
  const hint = meant === undefined ? '' : `; did you mean '${[...path, meant].join('.')}'?`;
  return new InvalidBody([...path, shownName(name)].join('.'), `is not known${hint}`);
}

/** Error for an update without any known field. */
export function nothingToChange(): InvalidBody {
  return new InvalidBody('', 'holds nothing that could be changed', { code: 'no_updates_provided' });
}

/** Unescapes one part of a JSON pointer. */
function unescaped(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Describes the differences between a body and its schema, for the log. */
export function describeErrors(errors: readonly ErrorObject[] | null | undefined): string {
  return (errors ?? [])
    .map(error => `${error.instancePath || '/'} ${brokenRule(error)} ${JSON.stringify(error.params)}`)
    .join('; ');
}
