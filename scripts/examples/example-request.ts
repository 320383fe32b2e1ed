import type { JsonObject } from '#contract/contracts/document.ts';
import {
  exampleTarget,
  pairsOf,
  type RequestedOperation,
  withQuery,
} from '#contract/description/code-samples.ts';
import { shownValues } from '../contract/values.ts';

/** Adds an optional parameter to the example request, once for each example value of its schema. */
export function targetsWith(
  document: JsonObject,
  operation: RequestedOperation,
  parameter: JsonObject,
): string[] {
  const shown = parameter.example === undefined ? shownValues(document, parameter) : [];
  return shown.map(value => withQuery(exampleTarget(operation), pairsOf(String(parameter.name), value)));
}
