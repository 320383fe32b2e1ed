import type { ErrorObject } from 'ajv';
import { brokenRule } from '../lib/broken-rule.ts';
import { didYouMean } from '../lib/spelling.ts';
import type { Steps } from './config-error.ts';

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
  return { steps, message: brokenRule(error) };
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
