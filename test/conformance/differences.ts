import type { OperationId } from '../../src/data/backends/port/backend.ts';
import { isObject } from '../../src/lib/json.ts';

/** What a back end cannot know of a record, and what it says in its place. */
export interface Unknown {
  readonly field: string;
  /** Everywhere when absent. */
  readonly operations?: readonly OperationId[];
  /** `nothing` is null or absent; `data` what a contract returned as hex, in place of the error that its interface names. */
  readonly reads: 'nothing' | 'data';
}

/** One place where two bodies differ. */
export interface Difference {
  readonly path: string;
  readonly actual: unknown;
  readonly expected: unknown;
}

/** Every leaf where two bodies differ, as paths without positions, such as `items[].token.holders`. */
export function differences(actual: unknown, expected: unknown, path = ''): Difference[] {
  if (Object.is(actual, expected)) return [];
  if (Array.isArray(actual) && Array.isArray(expected) && actual.length === expected.length) {
    return actual.flatMap((item, index) => differences(item, expected[index], `${path}[]`));
  }
  if (isObject(actual) && isObject(expected)) {
    const names = new Set([...Object.keys(actual), ...Object.keys(expected)]);
    return [...names].flatMap(name =>
      differences(actual[name], expected[name], path === '' ? name : `${path}.${name}`),
    );
  }
  return [{ path, actual, expected }];
}

/** Whether a difference is one that was to be expected. */
export function isExplained(
  { path, actual, expected }: Difference,
  { field, operations, reads }: Unknown,
  operation: OperationId,
): boolean {
  if (operations?.includes(operation) === false) return false;
  if (path.split('.').at(-1)?.replace(/\[\]$/, '') !== field) return false;
  if (reads === 'nothing') return actual === null || actual === undefined;
  return isData(actual) && isNamedError(expected);
}

function isData(value: unknown): boolean {
  return typeof value === 'string' && /^0x[0-9a-f]{8,}$/.test(value);
}

/** `Error` and `Panic` are named by the language, so everybody can read them. */
function isNamedError(value: unknown): boolean {
  return typeof value === 'string' && /^(?!Panic\()\w+\(.*\)$/.test(value);
}
