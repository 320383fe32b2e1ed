import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { isObject, type JsonObject, mapObjects } from '../../src/contract/document.ts';
import { GENERATED } from './header.ts';

const BIGINT = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);

/**
 * `types.ts`: the document's operations and schemas as TypeScript; integers beyond 2^53 are `bigint`. Parameters are as
 * handlers get them: one with a default is always there, and none is ever null.
 */
export async function typesOf(document: JsonObject): Promise<string> {
  const ast = await openapiTS(JSON.stringify(mapObjects(document, parameterAsRead)), {
    emptyObjectsUnknown: true,
    transform: schema =>
      schema.type === 'integer' && (schema.format === 'uint64' || schema.format === 'uint256')
        ? BIGINT
        : undefined,
  });
  return `${GENERATED}\n${astToString(ast)}`;
}

/** The reader fills defaults in, and leaves a nullable parameter out instead of handing a null on. */
function parameterAsRead(object: JsonObject): JsonObject {
  const { in: place, schema, required = false } = object;
  if (typeof place !== 'string' || !isObject(schema)) return object;
  return {
    ...object,
    schema: mapObjects(schema, withoutNull),
    required: required === true || schema.default !== undefined,
  };
}

function withoutNull(schema: JsonObject): JsonObject {
  if (!Array.isArray(schema.type)) return schema;
  const [type, ...more] = schema.type.filter(name => name !== 'null');
  return { ...schema, type: more.length === 0 ? (type ?? null) : [type ?? null, ...more] };
}
