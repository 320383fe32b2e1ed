import {
  child,
  type Json,
  type JsonObject,
  operationsOf,
  parametersOf,
  resolve,
} from '../../src/contract/contracts/document.ts';
import { describeErrors } from '../../src/contract/contracts/violations.ts';
import { eventData, type ResponseValidators } from '../../src/contract/mount/response-validators.ts';
import { isObject } from '../../src/lib/json.ts';
import type { Exchange } from './client.ts';

/** Operation as tested by the runner. */
export interface Target {
  readonly id: string;
  readonly path: string;
  readonly parameters: readonly JsonObject[];
  /** Declared statuses with their required headers. */
  readonly statuses: ReadonlyMap<string, readonly string[]>;
}

export function targetsOf(document: JsonObject): Target[] {
  return operationsOf(document)
    .filter(({ method }) => method === 'get')
    .map(({ path, operation }) => ({
      id: String(operation.operationId),
      path,
      parameters: parametersOf(document, path, operation),
      statuses: statusesOf(document, operation),
    }));
}

/** Declared statuses of an operation with their required headers. */
export function statusesOf(
  document: JsonObject,
  operation: JsonObject,
): ReadonlyMap<string, readonly string[]> {
  return new Map(
    Object.entries(child(operation, 'responses')).map(([status, response]) => [
      status,
      requiredHeaders(document, resolve(document, response)),
    ]),
  );
}

function requiredHeaders(document: JsonObject, response: JsonObject): string[] {
  return Object.entries(child(response, 'headers')).flatMap(([name, header]) =>
    resolve(document, header).required === true ? [name] : [],
  );
}

/** Deviations of a response from the contract and the expectation, one line each. */
export function judge(
  validators: ResponseValidators,
  exchange: Exchange,
  target: Target,
  expected: (status: number) => boolean,
): string[] {
  const { method, url, status, text, headers } = exchange;
  const at = `${target.id}: ${method} ${url.length > 160 ? `${url.slice(0, 160)}…` : url} → ${status}`;
  if (status === 0) return [`${at}: no answer: ${text}`];
  const findings: string[] = [];
  if (!expected(status)) findings.push(`${at}: unexpected status: ${text.slice(0, 200)}`);
  const declared = target.statuses.get(String(status));
  if (declared === undefined) findings.push(`${at}: undeclared status`);
  for (const name of declared ?? []) {
    if (headers[name.toLowerCase()] === undefined) findings.push(`${at}: no ${name}`);
  }
  if (method === 'HEAD' || status === 304) return findings;
  const body = bodyIn(exchange);
  if (body === undefined) return [...findings, `${at}: body is not JSON`];
  const validate = validators(target.id, status);
  if (validate?.(body.value) === false) findings.push(`${at}: ${describeErrors(validate.errors)}`);
  return findings;
}

/**
 * Body of a response in the form of its schema: parsed JSON, text for YAML and CSV, or the data of the first event; undefined
 * for anything else.
 */
export function bodyIn({ headers, text }: Pick<Exchange, 'headers' | 'text'>): { value: Json } | undefined {
  const type = String(headers['content-type']);
  if (type.startsWith('text/event-stream')) {
    const [first] = eventData(text);
    return first === undefined ? undefined : { value: first };
  }
  if (type.startsWith('application/yaml') || type.startsWith('text/csv')) return { value: text };
  return type.startsWith('application/json') ? parsed(text) : undefined;
}

/** Parses JSON; undefined for invalid text. */
export function parsed(text: string): { value: Json } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Properties next to the records of a list, present even when the list is empty. */
const BESIDE_RECORDS = ['meta', 'aggregations', 'next_page_params'];

/** True when a body has content. An empty list or its count is not content. */
export function isFilled(value: Json): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (!isObject(value)) return value !== null;
  return Object.entries(value).some(([name, member]) => !BESIDE_RECORDS.includes(name) && isFilled(member));
}
