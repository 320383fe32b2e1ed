import type { Json, JsonObject } from '#contract/contracts/document.ts';
import { shownValues } from '../contract/values.ts';

/** The parts of an operation that its example request is made of. */
export interface RequestedOperation {
  readonly path: string;
  readonly parameters: readonly JsonObject[];
}

/**
 * Path and query of an operation's example request: every parameter that has an `example` (Decision 210). `given` are
 * values in place of the examples of path parameters.
 */
export function exampleTarget(
  { path, parameters }: RequestedOperation,
  given: ReadonlyMap<string, string> = new Map(),
): string {
  const shown = parameters.filter(({ example }) => example !== undefined);
  const examples = new Map(shown.map(({ name, example = null }) => [String(name), String(example)]));
  const filled = path.replace(/\{([^}]+)\}/g, (whole, name: string) =>
    encodeURIComponent(given.get(name) ?? examples.get(name) ?? whole),
  );
  const query = shown.filter(({ in: place }) => place === 'query');
  return withQuery(
    filled,
    query.flatMap(({ name, example = null }) => pairsOf(String(name), example)),
  );
}

/** The example request with a parameter that is no part of it, once for each value that the parameter's schema shows. */
export function targetsWith(
  document: JsonObject,
  operation: RequestedOperation,
  parameter: JsonObject,
): string[] {
  const shown = parameter.example === undefined ? shownValues(document, parameter) : [];
  return shown.map(value => withQuery(exampleTarget(operation), pairsOf(String(parameter.name), value)));
}

function pairsOf(name: string, value: Json): string[] {
  const values = Array.isArray(value) ? value : [value];
  return values.map(one => `${name}=${encodeURIComponent(String(one))}`);
}

function withQuery(path: string, pairs: readonly string[]): string {
  if (pairs.length === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${pairs.join('&')}`;
}
