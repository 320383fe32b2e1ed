/** A parsed JSON value as an object; fails the test for any other value. */
export function record(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(shown(value));
  return { ...value };
}

/** A parsed JSON value as an array. */
export function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new Error(shown(value));
  return value;
}

export function text(value: unknown): string {
  if (typeof value !== 'string') throw new Error(shown(value));
  return value;
}

export function number(value: unknown): number {
  if (typeof value !== 'number') throw new Error(shown(value));
  return value;
}

function shown(value: unknown): string {
  return `not what was expected: ${JSON.stringify(value)}`;
}
