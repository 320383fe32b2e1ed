import { isObject } from '../../lib/json.ts';
import { child, type Json, type JsonObject, list, parametersOf, resolve } from './document.ts';
import { codesOfStatus, type PaymentsErrorCode } from './payments-errors.ts';

/** Operation with its path and method. */
export interface DescribedOperation {
  readonly path: string;
  readonly method: string;
  readonly operation: JsonObject;
}

/** Pattern of addresses. A violation has its own error code (Decision 98). */
const ADDRESS = '^0x[0-9a-fA-F]{40}$';

/** Headers by which a request names what it was made for: a version of a record, or a session of the dashboard. */
const CONDITIONS: readonly string[] = ['If-Match', 'X-Dashboard-Session'];

/**
 * Error codes of an operation, by status; empty for a contract without error codes. Most follow from the operation's
 * form, and `x-error-codes` lists the others (Decision 211).
 */
export function errorCodesOf(
  document: JsonObject,
  { path, method, operation }: DescribedOperation,
): ReadonlyMap<string, readonly PaymentsErrorCode[]> {
  const schemas = child(child(document, 'components'), 'schemas');
  if (schemas.ErrorCode === undefined) return new Map();
  const parameters = parametersOf(document, path, operation);
  const content = child(resolve(document, operation.requestBody), 'content');
  const body = child(content, 'application/json').schema;
  const isImplied: Partial<Record<PaymentsErrorCode, boolean>> = {
    missing_required_field: holds(document, body, ({ required }) => required !== undefined),
    invalid_address: [body, ...parameters.map(({ schema }) => schema)].some(schema =>
      holds(document, schema, ({ pattern }) => pattern === ADDRESS),
    ),
    no_updates_provided: method === 'patch',
    invalid_status_transition: false,
    duplicate_resource: false,
    precondition_failed: parameters.some(({ name }) => CONDITIONS.includes(String(name))),
    idempotency_conflict: parameters.some(({ name }) => name === 'Idempotency-Key'),
  };
  const listed = list(operation, 'x-error-codes');
  const statuses = Object.keys(child(operation, 'responses')).filter(status => Number(status) >= 400);
  return new Map(
    statuses.map(status => [
      status,
      codesOfStatus(Number(status)).filter(code => listed.includes(code) || (isImplied[code] ?? true)),
    ]),
  );
}

/** True when a schema, or any schema reachable from it, satisfies `isLike`. */
function holds(
  document: JsonObject,
  value: Json | undefined,
  isLike: (schema: JsonObject) => boolean,
  seen = new Set<JsonObject>(),
): boolean {
  if (Array.isArray(value)) return value.some(item => holds(document, item, isLike, seen));
  if (!isObject(value)) return false;
  const schema = resolve(document, value);
  if (seen.has(schema)) return false;
  seen.add(schema);
  return isLike(schema) || Object.values(schema).some(member => holds(document, member, isLike, seen));
}
