import { readFileSync } from 'node:fs';
import type { ValidateFunction } from 'ajv';
import type { JsonObject } from './document.ts';
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
