import { isObject } from '#lib/json.ts';
import type { Logger } from '#lib/logger.ts';
import { BackendError } from '../port/backend-error.ts';

/** A JSON object as an upstream sent it. */
export type Fields = Readonly<Record<string, unknown>>;

/** A record lacks something without which it is nothing. `path` leads to it, for example `items[3].hash`. */
export class Unreadable extends Error {
  readonly path: string;
  constructor(path: string, rule: string, options?: ErrorOptions) {
    super(`${path === '' ? 'the body' : path}: ${rule}`, options);
    this.name = 'Unreadable';
    this.path = path;
  }
}

/** The object that a value has to be. @throws Unreadable */
export function fieldsOf(value: unknown): Fields {
  if (isObject(value)) return value;
  throw new Unreadable('', 'is not an object');
}

/** Reads something below `step` and says so when it is unreadable. */
export function at<Value, Result>(
  step: string | number,
  value: Value,
  read: (value: Value) => Result,
): Result {
  try {
    return read(value);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    const own = typeof step === 'number' ? `[${step}]` : step;
    const joint = error.path === '' || error.path.startsWith('[') ? '' : '.';
    throw new Unreadable(`${own}${joint}${error.path}`, ruleOf(error), { cause: error });
  }
}

/** Every item of a list, read; no list at all is an empty one. @throws Unreadable with the place of the item. */
export function each<Item>(value: unknown, read: (item: unknown) => Item): Item[] {
  return listOf(value).map((item, index) => at(index, item, read));
}

/** A list as it came; anything else is an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The first of these fields that holds something: one record may carry the names of two generations. */
export function pick(record: Fields, ...names: readonly string[]): unknown {
  for (const name of names) {
    const value = record[name];
    if (value !== undefined && value !== null) return value;
  }
  return null;
}

/** What a record cannot be without. @throws Unreadable */
export function required<Value>(value: Value | null, name: string): Value {
  if (value === null) throw new Unreadable(name, 'is missing or unreadable');
  return value;
}

/** An optional field for spreading into a record: absent where there is no value. Decision 1. */
export function given<Name extends string, Value>(
  name: Name,
  value: Value | null,
): { [Key in Name]?: Value } | undefined {
  if (value === null) return undefined;
  const field: { [Key in Name]?: Value } = {};
  field[name] = value;
  return field;
}

function ruleOf({ path, message }: Unreadable): string {
  return message.slice((path === '' ? 'the body' : path).length + 2);
}

/** Back end whose records are read: it goes into the log as it is. */
interface RecordSource {
  readonly log: Logger;
  readonly name: string;
  readonly chainId: number | readonly number[];
}

/**
 * Runs `normalise` on an upstream's body and logs the part that it could not read.
 * @throws BackendError `unavailable` for an unreadable body: it goes to nobody half-made.
 */
export function readRecord<Record>(
  { log, name, chainId }: RecordSource,
  operation: string,
  normalise: () => Record,
): Record {
  try {
    return normalise();
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    log.warn({ operation, chainId, backend: name, path: error.path }, 'a record could not be read');
    throw new BackendError('unavailable', 'unreadable', 'its answer could not be read', { cause: error });
  }
}
