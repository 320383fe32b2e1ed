import type { OperationId } from '../../src/data/backends/port/backend.ts';
import { isObject } from '../../src/lib/json.ts';

/** A field that a back end cannot know, and its replacement. */
export interface Unknown {
  readonly field: string;
  /** All operations when absent. */
  readonly operations?: readonly OperationId[];
  /**
   * `nothing` is null or absent; `data` is a contract's hex return data in place of the error that its interface
   * names.
   */
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

/** True for an expected difference. */
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

/** The language defines `Error` and `Panic`, so every back end can name them. */
function isNamedError(value: unknown): boolean {
  return typeof value === 'string' && /^(?!Panic\()\w+\(.*\)$/.test(value);
}
