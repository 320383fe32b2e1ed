import { _, Ajv2020 } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import addFormats from 'ajv-formats';
import {
  child,
  isObject,
  type Json,
  type JsonObject,
  mapObjects,
  operationsOf,
  resolve,
} from '../../src/contract/document.ts';
import { GENERATED } from './header.ts';
import { hasBigInteger, type Parameter, parametersOf } from './operations.ts';

/**
 * `validators.cjs`: one function per operation over its parameters as read, `{ path, query }`.
 * Integers beyond 2^53 are bigints by then; the reader has checked their range.
 */
export function parameterValidators(document: JsonObject): string {
  const schemas: Record<string, Json> = {};
  for (const { path, operation } of operationsOf(document)) {
    const parameters = parametersOf(document, path, operation);
    const place = (name: string) => parameters.filter(parameter => parameter.in === name);
    schemas[String(operation.operationId)] = {
      type: 'object',
      properties: { path: objectOf(place('path')), query: objectOf(place('query')) },
      required: ['path', 'query'],
    };
  }
  return standalone(document, schemas, schema => schema);
}

/**
 * `responses.cjs`: one function per operation and status, named `<operationId>_<status>`. Every object with
 * named properties is closed, so that a field the contract does not know is found.
 */
export function responseValidators(document: JsonObject): string {
  const schemas: Record<string, Json> = {};
  for (const { operation } of operationsOf(document)) {
    for (const [status, response] of Object.entries(child(operation, 'responses'))) {
      const media = child(child(resolve(document, response), 'content'), 'application/json');
      if (media.schema !== undefined) {
        schemas[`${operation.operationId}_${status}`] = pointedAtDocument(closed(media.schema));
      }
    }
  }
  return standalone(document, schemas, closed);
}

/** The declaration beside either file. */
export const VALIDATOR_TYPES = `${GENERATED}
import type { ValidateFunction } from 'ajv';
declare const validators: Readonly<Record<string, ValidateFunction>>;
export = validators;
`;

function objectOf(parameters: Parameter[]): JsonObject {
  return {
    type: 'object',
    properties: Object.fromEntries(
      parameters.map(({ name, schema }) => [name, hasBigInteger(schema) ? {} : pointedAtDocument(schema)]),
    ),
    required: parameters.filter(parameter => parameter.required).map(parameter => parameter.name),
  };
}

function standalone(
  document: JsonObject,
  schemas: Record<string, Json>,
  prepare: (schema: Json) => Json,
): string {
  const ajv = new Ajv2020({
    strict: false,
    inlineRefs: false,
    code: { source: true, lines: true, formats: _`require("ajv-formats/dist/formats").fullFormats` },
  });
  addFormats.default(ajv);
  ajv.addFormat('uint64', true).addFormat('uint256', true);
  ajv.addSchema({ $id: 'document', components: prepare(document.components ?? {}) });
  for (const [name, schema] of Object.entries(schemas)) if (isObject(schema)) ajv.addSchema(schema, name);
  const exported = Object.fromEntries(Object.keys(schemas).map(name => [name, name]));
  return `${GENERATED}\n${standaloneCode.default(ajv, exported)}`;
}

/** Local references of a fragment lead into the document it was taken from. */
function pointedAtDocument(schema: Json): Json {
  return mapObjects(schema, object =>
    typeof object.$ref === 'string' ? { ...object, $ref: `document${object.$ref}` } : object,
  );
}

function closed(schema: Json): Json {
  return mapObjects(schema, object => {
    const open =
      isObject(object.properties) && object.type !== undefined && object.additionalProperties === undefined;
    return open ? { ...object, additionalProperties: false } : object;
  });
}
