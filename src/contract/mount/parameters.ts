import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import type { Contract } from '../contracts/contract.ts';
import type { JsonObject } from '../contracts/document.ts';
import type { OperationRow, ParameterRow } from '../contracts/operations.ts';
import {
  bodyViolation,
  InvalidParameter,
  knownFields,
  nearName,
  nothingToChange,
  parameterViolation,
  shownName,
} from '../contracts/violations.ts';
import type { PathSegments } from './router.ts';

/** Parsed and validated parameters of a request. */
export interface ReadRequest {
  readonly path: ParameterValues;
  readonly query: ParameterValues;
}

/** Limits of the cache: number of targets, and length of a target. */
const REMEMBERED = 2_000;
const LONGEST_REMEMBERED = 512;

/**
 * Parses and validates the parameters of a request. Clients repeat requests, so the result is cached per target. Equal
 * targets share one object, which is frozen.
 */
export function requestReader<Operations>(contract: Contract<Operations>) {
  const known = new LRUCache<string, ReadRequest>({ max: REMEMBERED });
  return (
    row: OperationRow,
    ctx: Pick<Context, 'url' | 'querystring'>,
    segments: PathSegments,
  ): ReadRequest => {
    const target = ctx.url;
    const before = isRead(row) ? known.get(target) : undefined;
    if (before !== undefined) return before;
    for (const name in segments) segments[name] = decodeSegment(segments[name] ?? '');
    const request = readParameters(row, segments, ctx.querystring);
    checkParameters(contract.parameters, row, request);
    if (target.length <= LONGEST_REMEMBERED && isRead(row)) known.set(target, frozen(request));
    return request;
  };
}

/** Validates the parsed parameters of a path, then those of a query. @throws InvalidParameter */
export function checkParameters(
  validators: Contract<unknown>['parameters'],
  { parameters }: Pick<OperationRow, 'parameters'>,
  request: ReadRequest,
): void {
  for (const location of ['path', 'query'] as const) {
    const rows = parameters.filter(row => row.in === location);
    const missing = rows.find(({ name, required }) => required && request[location][name] === undefined);
    if (missing !== undefined) throw new InvalidParameter(missing.name, 'is required');
    for (const { name, check } of rows) {
      const value = request[location][name];
      if (value === undefined || check === undefined) continue;
      const validate = validators[check];
      if (validate === undefined) throw new Error(`no parameter validator ${check}`);
      if (!validate(value)) throw parameterViolation(name, validate.errors);
    }
  }
}

/** Freezes a request with its lists. Other values of parameters are plain. */
function frozen(request: ReadRequest): ReadRequest {
  for (const values of [request.path, request.query]) {
    for (const name in values) Object.freeze(values[name]);
    Object.freeze(values);
  }
  return Object.freeze(request);
}

/**
 * True when requests can be cached by target: GET and HEAD of a target are the same operation, other methods are not.
 */
function isRead(row: OperationRow): boolean {
  return row.method === 'get';
}

/** Validates a body and fills in defaults. @throws InvalidBody */
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
    const known = isUnknown ? knownFields(error) : [];
    // Document 3 has a separate code for a PATCH "with no valid fields".
    if (method === 'patch' && isUnknown && !names.some(name => known.includes(name))) throw nothingToChange();
    throw bodyViolation(validate.errors);
  }
  if (method === 'patch' && names.length === 0) throw nothingToChange();
  return body;
}

const INTEGER = /^(?:0|-?[1-9]\d*)$/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Parsed values of one location (path or query), by parameter name. */
type ParameterValues = Record<string, unknown>;

/** Minimum length of a misspelling. Shorter undeclared names, such as `t` or `_`, usually only bypass caches. */
const SHORTEST_MISSPELT = 3;
/** Maximum undeclared names of a request that are compared with declared ones: a long query string holds thousands. */
const MAX_COMPARED = 20;

/**
 * Parses the declared parameters of an operation strictly. Numbers are plain decimals. A single parameter given twice
 * is refused. Lists may be repeated or separated by commas (Decision 183). Undeclared query keys are ignored, unless
 * the operation refuses such names. A nullable parameter that is empty or `null` is absent. Defaults are filled in.
 * @throws InvalidParameter naming the parameter and the rule.
 */
export function readParameters(
  operation: Pick<OperationRow, 'parameters' | 'closed' | 'refusesMisspelt'>,
  segments: Readonly<Record<string, string>>,
  querystring: string,
): { path: ParameterValues; query: ParameterValues } {
  const given = querystring === '' ? undefined : parseQuery(querystring);
  if (given !== undefined) refuseUnknown(given.keys(), operation);
  const path: ParameterValues = {};
  const query: ParameterValues = {};
  for (const row of operation.parameters) {
    if (row.in === 'path') path[row.name] = scalar(row, segments[row.name] ?? '');
    else {
      const values = given?.get(row.name);
      const value = values === undefined ? undefined : readValues(row, values);
      if (value !== undefined) query[row.name] = value;
      else if (row.default !== undefined) query[row.name] = row.default;
    }
  }
  return { path, query };
}

/** Decodes one path segment. @throws InvalidParameter on a malformed escape or a NUL byte */
export function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  let decoded: string;
  try {
    decoded = decodeURIComponent(segment);
  } catch {
    throw new InvalidParameter('path', 'holds a malformed percent escape');
  }
  if (decoded.includes('\0')) throw new InvalidParameter('path', 'must not hold a NUL byte');
  return decoded;
}

function parseQuery(querystring: string): Map<string, string[]> {
  if (querystring.includes('%')) {
    try {
      decodeURIComponent(querystring);
    } catch {
      throw new InvalidParameter('query string', 'holds a malformed percent escape');
    }
  }
  const values = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(querystring)) {
    if (value.includes('\0') || name.includes('\0')) {
      throw new InvalidParameter('query string', 'must not hold a NUL byte');
    }
    const before = values.get(name);
    if (before === undefined) values.set(name, [value]);
    else before.push(value);
  }
  return values;
}

function refuseUnknown(
  names: Iterable<string>,
  { parameters, closed = [], refusesMisspelt = false }: Parameters<typeof readParameters>[0],
): void {
  if (closed.length === 0 && !refusesMisspelt) return;
  const known = parameters.filter(row => row.in === 'query').map(row => row.name);
  let compared = 0;
  for (const name of names) {
    if (known.includes(name)) continue;
    const isCompared = refusesMisspelt && name.length >= SHORTEST_MISSPELT && compared < MAX_COMPARED;
    if (isCompared) compared += 1;
    const meant = isCompared ? nearName(name, known) : undefined;
    if (meant === undefined && !closed.some(beginning => name.startsWith(beginning))) continue;
    const hint = meant === undefined ? '' : `; did you mean '${meant}'?`;
    throw new InvalidParameter(shownName(name), `is not a parameter of this operation${hint}`);
  }
}

/** Value of one parameter from all its occurrences; undefined when all are null. */
function readValues(row: ParameterRow, values: readonly string[]): unknown {
  if (row.many === 'one' && values.length > 1) throw new InvalidParameter(row.name, 'must be given once');
  const given = values.filter(value => !isNull(row, value));
  if (given.length === 0) return undefined;
  const items = row.many === 'list' ? given.flatMap(value => value.split(',')) : given;
  const read = items.map(item => scalar(row, item));
  return row.many === 'one' ? read[0] : read;
}

function isNull({ nullable = false }: ParameterRow, text: string): boolean {
  return nullable && (text === '' || text === 'null');
}

function scalar(row: ParameterRow, text: string): unknown {
  switch (row.read) {
    case 'string':
      return text;
    case 'integer':
      if (!INTEGER.test(text) || !Number.isSafeInteger(Number(text))) {
        throw new InvalidParameter(row.name, 'must be an integer in decimal digits');
      }
      return Number(text);
    case 'number':
      if (!NUMBER.test(text)) throw new InvalidParameter(row.name, 'must be a decimal number');
      return Number(text);
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw new InvalidParameter(row.name, 'must be true or false');
      return text === 'true';
    case 'bigint':
      return bigInteger(row, text);
  }
}

function bigInteger(row: ParameterRow, text: string): bigint {
  const bits = row.bits ?? 256;
  const digits = integerDigits(text);
  if (digits === undefined || BigInt(digits) >> BigInt(bits) !== 0n) {
    throw new InvalidParameter(row.name, `must be an integer from 0 to 2^${bits} - 1 in decimal digits`);
  }
  return BigInt(digits);
}

/** Number of digits of 2^256 - 1. Longer text is refused before the costly conversion. */
const MAX_DIGITS = 78;
const DIGITS = /^(?:0|[1-9]\d{0,77})$/;
/** Exponent form, such as `1e+21`. An unescaped `+` in a query arrives as a space. */
const EXPONENT_FORM = /^(0|[1-9]\d{0,77})(?:\.(\d{1,78}))?[eE][+ ]?(\d{1,3})$/;

/**
 * Decimal digits of an integer in plain or exponent form; both are accepted (Decision 184). Undefined for any other
 * text and for more than 78 digits. The length is checked before the exponent is expanded.
 */
function integerDigits(text: string): string | undefined {
  if (DIGITS.test(text)) return text;
  const [, whole, fraction = '', exponent] = EXPONENT_FORM.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const written = `${whole}${fraction}`.replace(/^0+/, '');
  if (written === '') return '0';
  const significant = written.replace(/0+$/, '');
  const zeros = Number(exponent) - fraction.length + written.length - significant.length;
  if (zeros < 0 || significant.length + zeros > MAX_DIGITS) return undefined;
  return significant + '0'.repeat(zeros);
}
