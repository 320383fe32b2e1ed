import type { ErrorObject } from 'ajv';
import { brokenRule, didYouMean } from '../lib/broken-rule.ts';

/** One thing that is wrong: where (`chains[0].rpc[1]`, empty for the whole), on which line, and the rule. Never a value. */
export interface Finding {
  path: string;
  line: number | undefined;
  message: string;
}

/** Everything that is wrong with a configuration, in the order of the file. `source` is the file's path. */
export class ConfigError extends Error {
  readonly source: string;
  readonly findings: readonly Finding[];

  constructor(source: string, findings: readonly Finding[]) {
    const sorted = [...findings].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
    super(`${source} is not valid:\n${sorted.map(finding => `  ${sentence(finding)}`).join('\n')}`);
    this.name = 'ConfigError';
    this.source = source;
    this.findings = sorted;
  }
}

/** Steps into a parsed file, from its root. */
export type Steps = readonly (string | number)[];

/** Steps as people write them: `chains[0].id`. */
export function pathOf(steps: Steps): string {
  return steps.reduce<string>((path, step) => {
    if (typeof step === 'number') return `${path}[${step}]`;
    return path === '' ? step : `${path}.${step}`;
  }, '');
}

function sentence({ path, line, message }: Finding): string {
  const place = line === undefined ? '' : `line ${line}: `;
  return path === '' ? `${place}${message}` : `${place}${path} ${message}`;
}

/** A broken rule of the schema: where, and in words. */
export interface Violation {
  steps: Steps;
  message: string;
}

/** What the generated validator found, as a sentence that names the rule and never the value. */
export function violationOf(error: ErrorObject): Violation {
  const { instancePath, keyword, params, parentSchema = {} } = error;
  const steps = stepsOf(instancePath);
  const details: Record<string, unknown> = params;
  const form: unknown = parentSchema['x-form'];
  if (keyword === 'required')
    return { steps: [...steps, String(details.missingProperty)], message: 'is required' };
  if (keyword === 'additionalProperties') {
    const key = String(details.additionalProperty);
    return { steps: [...steps, key], message: unknownKey(key, Object.keys(parentSchema.properties ?? {})) };
  }
  if (typeof form === 'string') return { steps, message: `must be ${form}` };
  if (keyword === 'enum') return { steps, message: brokenRule(error) + meantOf(error) };
  return { steps, message: brokenRule(error) };
}

/** The word that was probably meant in place of one that is none of a list. */
function meantOf({ data, params }: ErrorObject): string {
  const known: unknown = params.allowedValues;
  if (typeof data !== 'string' || !Array.isArray(known)) return '';
  const meant = didYouMean(data, known.map(String));
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

function unknownKey(key: string, known: string[]): string {
  const meant = didYouMean(key, known);
  return `is not a known key; ${meant === undefined ? `known here: ${known.join(', ')}` : `did you mean ${meant}?`}`;
}

/** A JSON pointer as steps; what looks like a number is an index, which only shows in how the path is written. */
function stepsOf(pointer: string): Steps {
  const steps = pointer.split('/').slice(1);
  return steps.map(step =>
    /^\d+$/.test(step) ? Number(step) : step.replaceAll('~1', '/').replaceAll('~0', '~'),
  );
}
