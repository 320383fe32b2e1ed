import { readFileSync } from 'node:fs';
import type { ValidateFunction } from 'ajv';
import { type FormatError, messageOnly } from '../../http/errors.ts';
import { child, type JsonObject } from './document.ts';
import type { OperationRow, OperationTable } from './operations.ts';

/** Contract with the code generated from it. */
export interface Contract<Operations> {
  readonly name: string;
  /** Bundled OpenAPI document. */
  readonly document: JsonObject;
  readonly table: OperationTable & Readonly<Record<keyof Operations & string, OperationRow>>;
  /** Validators of parsed parameters, by the `check` of their rows. */
  readonly parameters: Readonly<Record<string, ValidateFunction>>;
  /** Validators of parsed bodies by operationId, which also fill in defaults; absent when no operation takes a body. */
  readonly bodies?: Readonly<Record<string, ValidateFunction>>;
}

/** Creates a contract with the bundled document of its folder in `generated/`. */
export function contractOf<Operations>(
  name: string,
  generated: Omit<Contract<Operations>, 'name' | 'document'>,
): Contract<Operations> {
  const file = new URL(`../../../generated/${name}/openapi.json`, import.meta.url);
  return { name, document: JSON.parse(readFileSync(file, 'utf8')), ...generated };
}

/**
 * Formats error bodies for several contracts behind one app. `x-errors` in a document names a path and a property:
 * below that path, including unknown paths, the error body is an object with that property. Everywhere else it is `{
 * message }`.
 */
export function errorBodies(contracts: readonly Pick<Contract<unknown>, 'name' | 'document'>[]): FormatError {
  const families = contracts.flatMap(familyOf);
  return (status, message, request) => {
    const family = families.find(({ below }) => isBelow(request.path, below));
    return family === undefined ? messageOnly(status, message, request) : { [family.property]: message };
  };
}

function familyOf({ name, document }: Pick<Contract<unknown>, 'name' | 'document'>) {
  if (document['x-errors'] === undefined) return [];
  const { below, property } = child(document, 'x-errors');
  if (typeof below !== 'string' || typeof property !== 'string') {
    throw new Error(`${name}: x-errors must name a path ("below") and a "property"`);
  }
  return [{ below, property }];
}

function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}
