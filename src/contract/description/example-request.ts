import { child, type Json, type JsonObject, list, resolve } from '../contracts/document.ts';

/** Parts of an operation that determine its example request. */
export interface RequestedOperation {
  readonly path: string;
  readonly parameters: readonly JsonObject[];
}

/**
 * Path and query of an operation's example request, with every parameter that has an `example` (Decision 210). Values
 * in `given` replace examples of path parameters.
 */
export function exampleTarget(
  { path, parameters }: RequestedOperation,
  given: ReadonlyMap<string, string> = new Map(),
): string {
  const examples = new Map(exampleValues(parameters, 'path'));
  const filled = path.replace(/\{([^}]+)\}/g, (whole, name: string) =>
    encodeURIComponent(given.get(name) ?? String(examples.get(name) ?? whole)),
  );
  return withQuery(
    filled,
    exampleValues(parameters, 'query').flatMap(([name, value]) => pairsOf(name, value)),
  );
}

/** Parameters of an example request in one place, `path` or `query`. */
export function exampleValues(
  parameters: readonly JsonObject[],
  place: string,
): [name: string, value: Json][] {
  return parameters.flatMap(({ in: at, name, example }): [string, Json][] =>
    at === place && example !== undefined ? [[String(name), example]] : [],
  );
}

/** Body of an example request; undefined when the operation takes none. */
export function exampleBody(document: JsonObject, operation: JsonObject): Json | undefined {
  const content = child(resolve(document, operation.requestBody), 'content');
  const media = child(content, 'application/json');
  if (media.schema === undefined) return undefined;
  return media.example ?? list(resolve(document, media.schema), 'examples')[0] ?? {};
}

/** Appends pairs to the query of a target. */
export function withQuery(target: string, pairs: readonly string[]): string {
  if (pairs.length === 0) return target;
  return `${target}${target.includes('?') ? '&' : '?'}${pairs.join('&')}`;
}

/** Query pairs of a parameter, one per value of a list. */
export function pairsOf(name: string, value: Json): string[] {
  const values = Array.isArray(value) ? value : [value];
  return values.map(one => `${name}=${encodeURIComponent(String(one))}`);
}
