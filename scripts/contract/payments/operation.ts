import type { Contract } from '#contract/contracts/contract.ts';
import {
  child,
  type Json,
  type JsonObject,
  operationsOf,
  parametersOf,
  resolve,
} from '#contract/contracts/document.ts';
import type { OperationRow } from '#contract/contracts/operations.ts';
import { newId, randomBase62 } from '#lib/ids.ts';
import { statusesOf, type Target } from '../judge.ts';
import { goodValues } from '../values.ts';

/** Operation as tested by the runner, from the table and the document. */
export interface Operation extends Target {
  readonly row: OperationRow;
  /** Schema of the JSON body; undefined when the operation takes none. */
  readonly body: JsonObject | undefined;
  /** Example body from the document; undefined without one. */
  readonly example: Json | undefined;
}

/** Operations of a contract's table, in its order. @throws Error for one that the document lacks */
export function operationsIn<Operations>({ document, table }: Contract<Operations>): Operation[] {
  const described = new Map(
    operationsOf(document).map(entry => [String(entry.operation.operationId), entry]),
  );
  return Object.values<OperationRow>(table).map(row => {
    const entry = described.get(row.id);
    if (entry === undefined) throw new Error(`${row.id} is not in the document`);
    const { path, operation } = entry;
    const content = child(resolve(document, operation.requestBody), 'content');
    const { schema, example } = child(content, 'application/json');
    return {
      id: row.id,
      path,
      row,
      parameters: parametersOf(document, path, operation),
      statuses: statusesOf(document, operation),
      body: row.body === true ? resolve(document, schema) : undefined,
      example,
    };
  });
}

/** Permission required by an operation; undefined when it needs no key. */
export function permissionFor({ row }: Operation): string | undefined {
  return Object.values(row.security[0] ?? {})[0]?.[0];
}

export function isKeyed({ row }: Operation): boolean {
  return row.security.length > 0;
}

/** Path with the given escaped values. Other parameters get a well-formed id that does not exist. */
export function pathWith(
  document: JsonObject,
  { path, parameters }: Operation,
  given: Readonly<Record<string, string>>,
): string {
  return path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const parameter = parameters.find(candidate => candidate.name === name);
    const [example = ''] = parameter === undefined ? [] : goodValues(document, parameter);
    const [prefix] = /^[a-z]+(?=_)/.exec(example) ?? [];
    return given[name] ?? (prefix === undefined ? randomBase62(10) : newId(prefix));
  });
}
