import type { ErrorObject } from 'ajv';
import { brokenRule, didYouMean } from '../lib/broken-rule.ts';

/**
 * One invalid part of a configuration: its path (`chains[0].rpc[1]`, empty for the whole file), its line, and the
 * broken rule. Never contains a value.
 */
export interface ConfigFault {
  path: string;
  line: number | undefined;
  message: string;
}

/** All findings in a configuration, in the order of the file. `source` is the file's path. */
export class ConfigError extends Error {
  readonly source: string;
  readonly findings: readonly ConfigFault[];

  constructor(source: string, findings: readonly ConfigFault[]) {
    const sorted = [...findings].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
    super(`${source} is not valid:\n${sorted.map(finding => `  ${sentence(finding)}`).join('\n')}`);
    this.name = 'ConfigError';
    this.source = source;
    this.findings = sorted;
  }
}

/** Path inside a parsed file, from its root. */
export type Steps = readonly (string | number)[];

/** Text form of a path: `chains[0].id`. */
export function settingPath(steps: Steps): string {
  return steps.reduce<string>((path, step) => {
    if (typeof step === 'number') return `${path}[${step}]`;
    return path === '' ? step : `${path}.${step}`;
  }, '');
}

function sentence({ path, line, message }: ConfigFault): string {
  const start = line === undefined ? '' : `line ${line}: `;
  return path === '' ? `${start}${message}` : `${start}${path} ${message}`;
}

/** Broken rule of the schema: its path and its text. */
export interface Violation {
  steps: Steps;
  message: string;
}

/** Converts an error of the generated validator to text that names the rule but never the value. */
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

/** Suggestion for a word that is not in the list of allowed values. */
function meantOf({ data, params }: ErrorObject): string {
  const known: unknown = params.allowedValues;
  if (typeof data !== 'string' || !Array.isArray(known)) return '';
  const meant = didYouMean(data, known.map(String));
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

/** Rule that an unknown key breaks, with the one that may be meant. */
export function unknownKey(key: string, known: string[]): string {
  const meant = didYouMean(key, known);
  return `is not a known key; ${meant === undefined ? `known here: ${known.join(', ')}` : `did you mean ${meant}?`}`;
}

/** Path of a JSON pointer. A step of digits becomes an index, which affects only how the path is displayed. */
function stepsOf(pointer: string): Steps {
  const steps = pointer.split('/').slice(1);
  return steps.map(step =>
    /^\d+$/.test(step) ? Number(step) : step.replaceAll('~1', '/').replaceAll('~0', '~'),
  );
}
