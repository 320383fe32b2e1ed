declare global {
  interface JSON {
    /** A value that JSON.stringify writes exactly as `text` says (Node 22 and later; not yet in TypeScript's library). */
    rawJSON(text: string): object;
  }
}

/**
 * JSON text of plain data in which every bigint is its exact integer literal. Throws TypeError on a cycle, as
 * JSON.stringify does. Bodies that hold bigints are given others beforehand: a replacer would be called for every value
 * and takes away JSON.stringify's quick way, which doubles the time.
 */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(withoutBigints(value, []));
  }
}

/** A value that `toJson` wrote. Integers that a number cannot hold are bigints. */
export function fromJson<Value>(text: string): Value {
  return MAY_HOLD_LONG_INTEGER.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text);
}

/** A reviver takes several times as long, and such integers are rare. */
const MAY_HOLD_LONG_INTEGER = /[:,[]-?\d{16}/;

/** A reviver is told the text of each number since Node 21, which TypeScript's library does not know yet. */
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

/** The same, written the same, without bigints. Only what holds one is copied; `around` are the objects it is within. */
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
  // Of a plain object these are the same keys as Object.keys has, without a list of them.
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

/** What has a prototype of its own may have a `toJSON` on it, and no bigints for us. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** A number where one holds the integer exactly. A body without bigints is written in half the time. */
export function numberOrBigint(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** The same digits in JSON. Raw text is written more slowly than a number. */
function exactInteger(value: bigint): number | object {
  const exact = numberOrBigint(value);
  return typeof exact === 'number' ? exact : JSON.rawJSON(value.toString());
}

function sortedKeys(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
