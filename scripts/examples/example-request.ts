import type { JsonObject } from '#contract/contracts/document.ts';
import {
  exampleTarget,
  pairsOf,
  type RequestedOperation,
  withQuery,
} from '#contract/description/example-request.ts';
import { shownValues } from '../contract/values.ts';

/** The example request with a parameter that is no part of it, once for each value that the parameter's schema shows. */
export function targetsWith(
  document: JsonObject,
  operation: RequestedOperation,
  parameter: JsonObject,
): string[] {
  const shown = parameter.example === undefined ? shownValues(document, parameter) : [];
  return shown.map(value => withQuery(exampleTarget(operation), pairsOf(String(parameter.name), value)));
}
