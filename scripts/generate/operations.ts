import {
  child,
  parametersOf as declaredParameters,
  type Json,
  type JsonObject,
  list,
  operationsOf,
  resolve,
} from '../../src/contract/contracts/document.ts';
import { isObject } from '../../src/lib/json.ts';
import { rulesOnly } from './fields.ts';
import { GENERATED } from './header.ts';

interface Parameter {
  name: string;
  /** Name of the shared parameter it refers to, else its own. */
  component: string;
  in: string;
  required: boolean;
  /** True when the access log must not show its value. */
  isUnlogged: boolean;
  schema: JsonObject;
}

const JSON_MEDIA = 'application/json';
const BIG_INTEGERS: Record<string, number> = { uint64: 64, uint256: 256 };

/** Parameters of an operation, with references resolved. */
function parametersOf(document: JsonObject, path: string, operation: JsonObject): Parameter[] {
  const components = Object.entries(child(child(document, 'components'), 'parameters'));
  const componentOf = (parameter: JsonObject) => components.find(([, shared]) => shared === parameter)?.[0];
  return declaredParameters(document, path, operation).map(parameter => {
    if (typeof parameter.name !== 'string' || typeof parameter.in !== 'string') {
      throw new Error(`${path}: a parameter without name or place`);
    }
    return {
      name: parameter.name,
      component: componentOf(parameter) ?? parameter.name,
      in: parameter.in,
      required: parameter.required === true,
      isUnlogged: parameter['x-unlogged'] === true,
      schema: resolve(document, parameter.schema),
    };
  });
}

/** Width in bits of an integer beyond the safe range of a JavaScript number; undefined for every other schema. */
export function bigIntegerBits(schema: JsonObject): number | undefined {
  return typesOf(schema).includes('integer') && typeof schema.format === 'string'
    ? BIG_INTEGERS[schema.format]
    : undefined;
}

/**
 * Names of the validators that parameters need, by the text of their rules. Parameters with equal rules share one,
 * which has the name of the first.
 */
export function parameterChecks(document: JsonObject): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { path, operation } of operationsOf(document)) {
    for (const { component, in: place, schema } of parametersOf(document, path, operation)) {
      const rules = place === 'header' ? undefined : rulesOf(schema);
      const text = JSON.stringify(rules);
      if (rules === undefined || names.has(text)) continue;
      if ([...names.values()].includes(component)) throw new Error(`two parameters are named ${component}`);
      names.set(text, component);
    }
  }
  return names;
}

/**
 * Rules that the parsed value of a parameter must satisfy; undefined when parsing leaves none. Parsing checks the type
 * of a single value and the range of an integer beyond 2^53.
 */
function rulesOf(schema: JsonObject): JsonObject | undefined {
  if (hasBigInteger(schema)) return undefined;
  const { default: _, ...rules } = rulesOnly(schema);
  return Object.keys(rules).every(key => key === 'type') ? undefined : rules;
}

/** Content of `operations.ts`: the HTTP properties of each operation and the parsing rules of its parameters. */
export function operationTable(document: JsonObject): string {
  const closed = list(document, 'x-closed-parameters');
  const refusesMisspelt = document['x-refuse-misspelt-parameters'] === true;
  const checks = parameterChecks(document);
  const rows = operationsOf(document).map(({ path, method, operation }) => {
    const id = operation.operationId;
    if (typeof id !== 'string') throw new Error(`${method} ${path} has no operationId`);
    const parameters = parametersOf(document, path, operation)
      .filter(parameter => parameter.in === 'path' || parameter.in === 'query')
      .map(parameterRow(document, checks));
    const statuses = Object.keys(child(operation, 'responses')).map(Number);
    const security = operation.security ?? document.security ?? [];
    const media = otherMedia(document, operation);
    const row = {
      id,
      method,
      path,
      parameters,
      ...(closed.length === 0 ? {} : { closed }),
      ...(refusesMisspelt ? { refusesMisspelt } : {}),
      ...(operation.requestBody === undefined ? {} : { body: true }),
      ...maxBodyBytesOf(operation),
      ...(isReplayable(document, path, operation) ? { replayable: true } : {}),
      ...(Object.keys(media).length === 0 ? {} : { media }),
      statuses,
      security,
    };
    return printed(row);
  });
  return [
    GENERATED,
    `import type { OperationTable } from '../../src/contract/contracts/operations.ts';`,
    '',
    'export const table = {',
    ...rows,
    '} as const satisfies OperationTable;',
    '',
  ].join('\n');
}

/** Formats a row: one line per field and per parameter. */
function printed({ parameters, ...row }: { id: string; parameters: Json[] }): string {
  const fields = Object.entries(row).map(([name, value]) => `    ${name}: ${inline(value)},`);
  const lines = parameters.map(parameter => `      ${inline(parameter)},`);
  const list = lines.length === 0 ? ['    parameters: [],'] : ['    parameters: [', ...lines, '    ],'];
  return [`  ${row.id}: {`, ...fields, ...list, '  },'].join('\n');
}

/** Formats a value as TypeScript on one line. */
function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${name(key)}: ${inline(member)}`);
  return `{ ${members.join(', ')} }`;

  function name(key: string): string {
    return /^[a-z]\w*$/i.test(key) ? key : JSON.stringify(key);
  }
}

/** Media types of responses other than JSON, by status. */
function otherMedia(document: JsonObject, operation: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(child(operation, 'responses')).flatMap(([status, response]) => {
      const [media] = Object.keys(child(resolve(document, response), 'content'));
      return media === undefined || media === JSON_MEDIA ? [] : [[status, `${media}; charset=utf-8`]];
    }),
  );
}

function isReplayable(document: JsonObject, path: string, operation: JsonObject): boolean {
  return parametersOf(document, path, operation).some(
    parameter => parameter.in === 'header' && parameter.name === 'Idempotency-Key',
  );
}

function parameterRow(
  document: JsonObject,
  checks: ReadonlyMap<string, string>,
): (parameter: Parameter) => Json {
  return ({ name, in: place, required, isUnlogged, schema }) => {
    const rules = rulesOf(schema);
    const check = rules === undefined ? undefined : checks.get(JSON.stringify(rules));
    const many = schema.type === 'array';
    const item = many ? resolve(document, schema.items) : schema;
    const bits = bigIntegerBits(item);
    return {
      name,
      in: place,
      required,
      read: bits === undefined ? scalarType(item) : 'bigint',
      many: many ? (mayHoldComma(item) ? 'repeated' : 'list') : 'one',
      ...(typesOf(item).includes('null') ? { nullable: true } : {}),
      ...(bits === undefined ? {} : { bits }),
      ...(check === undefined ? {} : { check }),
      ...(schema.default === undefined ? {} : { default: schema.default }),
      ...(isUnlogged ? { unlogged: true } : {}),
    };
  };
}

/** True for free text. An `enum` or a `pattern` of an item allows no comma (spec/README.md, rule 15). */
export function mayHoldComma(item: JsonObject): boolean {
  return typesOf(item).includes('string') && item.enum === undefined && item.pattern === undefined;
}

function typesOf({ type }: JsonObject): (Json | undefined)[] {
  return Array.isArray(type) ? type : [type];
}

function scalarType(schema: JsonObject): string {
  const types = typesOf(schema);
  for (const type of ['integer', 'number', 'boolean']) if (types.includes(type)) return type;
  return 'string';
}

/** True when any part of a schema is an integer that becomes a bigint. */
function hasBigInteger(schema: Json | undefined): boolean {
  return isObject(schema) && (bigIntegerBits(schema) !== undefined || hasBigInteger(schema.items));
}

function maxBodyBytesOf({ 'x-max-body-bytes': most }: JsonObject) {
  return typeof most === 'number' ? { maxBodyBytes: most } : {};
}
