import { readFileSync } from 'node:fs';
import type { ValidateFunction } from 'ajv';
import { type FormatError, messageOnly } from '../../http/errors.ts';
import { child, type JsonObject } from './document.ts';
import type { OperationRow, OperationTable } from './operations.ts';

/** One of our contracts with what was generated from it. */
export interface Contract<Operations> {
  readonly name: string;
  /** The bundled OpenAPI document. */
  readonly document: JsonObject;
  readonly table: OperationTable & Readonly<Record<keyof Operations & string, OperationRow>>;
  /** By operationId: judges `{ path, query }`. */
  readonly parameters: Readonly<Record<string, ValidateFunction>>;
  /** By operationId: judges a parsed body and fills defaults in; absent where none takes a body. */
  readonly bodies?: Readonly<Record<string, ValidateFunction>>;
}

/** A contract with the bundled document of its folder in `generated/`. */
export function contractOf<Operations>(
  name: string,
  generated: Omit<Contract<Operations>, 'name' | 'document'>,
): Contract<Operations> {
  const file = new URL(`../../../generated/${name}/openapi.json`, import.meta.url);
  return { name, document: JSON.parse(readFileSync(file, 'utf8')), ...generated };
}

/**
 * Words the errors of several contracts behind one app. `x-errors` of a document says under which path, unknown paths
 * included, the body is an object with one property of another name; everywhere else it is `{ message }`.
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
    throw new Error(`${name}: x-errors must say below which path and by which property`);
  }
  return [{ below, property }];
}

function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}
