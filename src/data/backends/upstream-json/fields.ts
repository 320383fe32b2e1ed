import { isObject } from '#lib/json.ts';
import { naturalOrNull } from './values.ts';

/** A JSON object as an upstream sent it. */
export type Fields = Readonly<Record<string, unknown>>;

/** Thrown when a record lacks an essential value. `path` leads to the value, for example `items[3].hash`. */
export class UnreadableRecord extends Error {
  readonly path: string;
  /** True for a record of another identity than the requested one, so that no record next to it is believed. */
  readonly isMixedUp: boolean;
  /** True when its only fault is a number that the contract cannot represent: a stranger can have written it. */
  readonly isOversized: boolean;
  constructor(
    path: string,
    rule: string,
    options: ErrorOptions & { readonly isMixedUp?: boolean; readonly isOversized?: boolean } = {},
  ) {
    super(`${path === '' ? 'the body' : path}: ${rule}`, options);
    this.name = 'UnreadableRecord';
    this.path = path;
    this.isMixedUp = options.isMixedUp ?? false;
    this.isOversized = options.isOversized ?? false;
  }
}

/** Returns the value as an object. @throws UnreadableRecord */
export function fieldsOf(value: unknown): Fields {
  if (isObject(value)) return value;
  throw new UnreadableRecord('', 'is not an object');
}

/** Reads a value and prepends `step` to the path of an `UnreadableRecord` error. */
export function at<Value, Result>(
  step: string | number,
  value: Value,
  read: (value: Value) => Result,
): Result {
  try {
    return read(value);
  } catch (error) {
    if (!(error instanceof UnreadableRecord)) throw error;
    const own = typeof step === 'number' ? `[${step}]` : step;
    const joint = error.path === '' || error.path.startsWith('[') ? '' : '.';
    const { path, isMixedUp, isOversized } = error;
    throw new UnreadableRecord(`${own}${joint}${path}`, ruleOf(error), {
      cause: error,
      isMixedUp,
      isOversized,
    });
  }
}

/**
 * Reads each item of a list. A value that is no list counts as an empty one. @throws UnreadableRecord with the position of
 * the item.
 */
export function each<Item>(value: unknown, read: (item: unknown) => Item): Item[] {
  return listOf(value).map((item, index) => at(index, item, read));
}

/**
 * Reads the items of a list inside a record. Those with a number of too many digits are left out, so that they do not
 * take the record away (Decision 421). @throws UnreadableRecord for any other fault
 */
export function eachWithoutOversized<Item>(value: unknown, read: (item: unknown) => Item): Item[] {
  return listOf(value).flatMap((item, index) => {
    try {
      return [at(index, item, read)];
    } catch (error) {
      if (!(error instanceof UnreadableRecord) || !error.isOversized) throw error;
      return [];
    }
  });
}

/** Returns a list unchanged, and an empty list for any other value. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the first of these fields that has a value. Two generations of an API may use different names. */
export function pick(record: Fields, ...names: readonly string[]): unknown {
  for (const name of names) {
    const value = record[name];
    if (value !== undefined && value !== null) return value;
  }
  return null;
}

/** Returns a value that the record must have. @throws UnreadableRecord */
export function required<Value>(value: Value | null, name: string): Value {
  if (value === null) throw new UnreadableRecord(name, 'is missing or unreadable');
  return value;
}

/** Reads an integer of up to 78 digits that the record must have. @throws UnreadableRecord */
export function requiredNatural(record: Fields, name: string): string {
  const value = record[name];
  const isOversized = typeof value === 'bigint' || (typeof value === 'string' && /^[0-9]+$/.test(value));
  const text = naturalOrNull(value);
  if (text !== null) return text;
  throw new UnreadableRecord(name, isOversized ? 'has too many digits' : 'is missing or unreadable', {
    isOversized,
  });
}

/** Optional field for spreading into a record. Absent when there is no value (Decision 1). */
export function optionalField<Name extends string, Value>(
  name: Name,
  value: Value | null,
): { [Key in Name]?: Value } | undefined {
  if (value === null) return undefined;
  const field: { [Key in Name]?: Value } = {};
  field[name] = value;
  return field;
}

function ruleOf({ path, message }: UnreadableRecord): string {
  return message.slice((path === '' ? 'the body' : path).length + 2);
}
