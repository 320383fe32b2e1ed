import { readFileSync } from 'node:fs';
import { isObject } from '../../lib/json.ts';

/** A file that is not what its place promises. `message` says what is wrong, in words for the operator. */
export class UnreadableAbi extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnreadableAbi';
  }
}

/** The text of a file. @throws UnreadableAbi when it cannot be read. */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new UnreadableAbi('cannot be read', { cause });
  }
}

/** The JSON in a file. @throws UnreadableAbi when there is none. */
export function readJson(file: string): unknown {
  const text = readText(file);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UnreadableAbi('must be JSON', { cause });
  }
}

/** A member of an object in parsed JSON; undefined of anything else. */
export function member(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const key of path) {
    if (!isObject(found)) return undefined;
    found = Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}
