import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import type { Contract } from '../contracts/contract.ts';
import type { JsonObject } from '../contracts/document.ts';
import type { OperationRow } from '../contracts/operations.ts';
import { bodyViolation, fieldsOf, nothingToChange, parameterViolation } from '../contracts/violations.ts';
import { decodeSegment, type ParameterValues, readParameters } from './parameters.ts';
import type { PathSegments } from './router.ts';

/** The parameters of a request, read and valid. */
export interface ReadRequest {
  readonly path: ParameterValues;
  readonly query: ParameterValues;
}

/** Targets remembered, and the longest of them. */
const REMEMBERED = 2_000;
const LONGEST_REMEMBERED = 512;

/**
 * Reads and validates the parameters of a request. Clients ask for the same again and again, so what a valid target
 * means is worked out once: equal targets get the very same request, which nobody may change.
 */
export function requestReader<Operations>(contract: Contract<Operations>) {
  const known = new LRUCache<string, ReadRequest>({ max: REMEMBERED });
  return (row: OperationRow, ctx: Context, segments: PathSegments): ReadRequest => {
    const target = ctx.url;
    const before = isRead(row) ? known.get(target) : undefined;
    if (before !== undefined) return before;
    for (const name in segments) segments[name] = decodeSegment(segments[name] ?? '');
    const request = readParameters(row, segments, ctx.querystring);
    const validate = contract.parameters[row.id];
    if (validate === undefined) throw new Error(`no parameter validator for ${row.id}`);
    if (!validate(request)) throw parameterViolation(validate.errors);
    if (target.length <= LONGEST_REMEMBERED && isRead(row)) known.set(target, request);
    return request;
  };
}

/** GET and HEAD of one target mean the same operation; other methods may not. */
function isRead(row: OperationRow): boolean {
  return row.method === 'get';
}

/** A valid body, with defaults. @throws InvalidBody */
export function validBody<Operations>(
  { bodies }: Contract<Operations>,
  { id, method }: OperationRow,
  body: JsonObject,
): JsonObject {
  const validate = bodies?.[id];
  if (validate === undefined) throw new Error(`no body validator for ${id}`);
  const names = Object.keys(body);
  if (!validate(body)) {
    const [error] = validate.errors ?? [];
    const isUnknown = error?.keyword === 'additionalProperties' && error.instancePath === '';
    const known = isUnknown ? fieldsOf(error) : [];
    // Document 3 has a code of its own for a PATCH "with no valid fields".
    if (method === 'patch' && isUnknown && !names.some(name => known.includes(name))) throw nothingToChange();
    throw bodyViolation(validate.errors);
  }
  if (method === 'patch' && names.length === 0) throw nothingToChange();
  return body;
}
