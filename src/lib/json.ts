declare global {
  interface JSON {
    /** Wraps JSON text that JSON.stringify writes unchanged (Node 22 and later; not yet in TypeScript's library). */
    rawJSON(text: string): object;
  }
}

/**
 * Returns JSON text of plain data with every bigint as its exact integer literal. Bigints are replaced before
 * JSON.stringify runs: a replacer is called for every value and disables its fast path, which doubles the time.
 * @throws TypeError on a cycle, as JSON.stringify does
 */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(withoutBigints(value, []));
  }
}

/** Parses text that `toJson` wrote. Integers beyond the safe range become bigints. */
export function fromJson<Value>(text: string): Value {
  return MAY_HOLD_LONG_INTEGER.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text);
}

/** Avoids the reviver, which takes several times as long, when no such integer can occur. */
const MAY_HOLD_LONG_INTEGER = /[:,[]-?\d{16}/;

/**
 * Reviver for exact integers. Since Node 21 it receives the source text of each number; TypeScript's library lacks that
 * parameter.
 */
function exactNumber(_key: string, value: unknown, { source }: { readonly source?: string } = {}): unknown {
  if (typeof value !== 'number' || source === undefined || Number.isSafeInteger(value)) return value;
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
}

/** JSON text that is equal for equal values: keys sorted at every depth, bigints as in `toJson`. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner) =>
    typeof inner === 'bigint' ? exactInteger(inner) : sortedKeys(inner),
  );
}

/**
 * Copies a value with every bigint replaced by a form that JSON.stringify accepts. Parts without bigints are not
 * copied. `around` holds the enclosing objects, to detect cycles.
 */
function withoutBigints(value: unknown, around: object[]): unknown {
  if (typeof value === 'bigint') return exactInteger(value);
  const isList = Array.isArray(value);
  if (!isList && !isPlainObject(value)) return value;
  if (around.includes(value)) throw new TypeError('a cycle has no JSON text');
  around.push(value);
  const result = isList ? listWithout(value, around) : objectWithout(value, around);
  around.pop();
  return result;
}

function listWithout(list: readonly unknown[], around: object[]): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const inner = list[index];
    const other = withoutBigints(inner, around);
    if (other === inner) continue;
    copy ??= [...list];
    copy[index] = other;
  }
  return copy ?? list;
}

function objectWithout(object: Record<string, unknown>, around: object[]): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  // Plain objects inherit no enumerable keys, so this equals Object.keys without allocating a list.
  for (const key in object) {
    const inner = object[key];
    const other = withoutBigints(inner, around);
    if (other === inner) continue;
    copy ??= { ...object };
    copy[key] = other;
  }
  return copy ?? object;
}

/** True for an object of parsed JSON: neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for object literals. Other prototypes may define `toJSON` and never hold our bigints. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Number where it is exact, else a bigint. A body without bigints is written in half the time. */
export function numberOrBigint(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/**
 * Form of a bigint that JSON.stringify writes with the same digits. Raw text is used only where needed, because it is
 * slower than a number.
 */
function exactInteger(value: bigint): number | object {
  const exact = numberOrBigint(value);
  return typeof exact === 'number' ? exact : JSON.rawJSON(value.toString());
}

function sortedKeys(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
