import {
  child,
  type Json,
  type JsonObject,
  operationsOf,
  parametersOf,
  resolve,
} from '../../src/contract/contracts/document.ts';
import { describeErrors } from '../../src/contract/contracts/violations.ts';
import type { ResponseValidators } from '../../src/contract/mount/response-validators.ts';
import { isObject } from '../../src/lib/json.ts';
import type { Exchange } from './client.ts';

/** One operation as the runner drives it. */
export interface Target {
  readonly id: string;
  readonly path: string;
  readonly parameters: readonly JsonObject[];
  /** Declared statuses, each with the headers it must have. */
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

/** The statuses that an operation declares, each with the headers it must have. */
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

/** Everything about one answer that is not as the contract and the expectation say, one line each. */
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

/** The body of an answer as its schema sees it: the value of JSON, or a text of YAML; undefined for anything else. */
export function bodyIn({ headers, text }: Pick<Exchange, 'headers' | 'text'>): { value: Json } | undefined {
  const type = String(headers['content-type']);
  if (type.startsWith('application/yaml')) return { value: text };
  return type.startsWith('application/json') ? parsed(text) : undefined;
}

/** JSON text's value, or undefined for what is none. */
export function parsed(text: string): { value: Json } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** What stands beside the records of a list, and what there is even of nothing. */
const BESIDE_RECORDS = ['meta', 'aggregations', 'next_page_params'];

/** Whether a body tells anything: an empty list tells nothing, nor does the count of one. */
export function isFilled(value: Json): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (!isObject(value)) return value !== null;
  return Object.entries(value).some(([name, member]) => !BESIDE_RECORDS.includes(name) && isFilled(member));
}
