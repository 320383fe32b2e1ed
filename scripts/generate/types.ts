import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { type JsonObject, mapObjects, resolve } from '../../src/contract/contracts/document.ts';
import { isObject } from '../../src/lib/json.ts';
import { GENERATED } from './header.ts';
import { bigIntegerBits } from './operations.ts';

const BIGINT = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);
/** In a schema a number may stand for an integer that it holds exactly: JSON.stringify writes no bigint. */
const INTEGER = ts.factory.createUnionTypeNode([
  ts.factory.createKeywordTypeNode(ts.SyntaxKind.NumberKeyword),
  BIGINT,
]);

/**
 * `types.ts`: the document's operations and schemas as TypeScript; integers beyond 2^53 are `bigint`, in schemas also `number`. Parameters are as
 * handlers get them: one with a default is always there, and none is ever null.
 */
export async function typesOf(document: JsonObject): Promise<string> {
  const read = mapObjects(withoutReceivers(document), parameterAsRead(document));
  const ast = await openapiTS(JSON.stringify(read), {
    emptyObjectsUnknown: true,
    transform: (schema, { path }) => {
      const isLarge =
        schema.type === 'integer' && (schema.format === 'uint64' || schema.format === 'uint256');
      if (!isLarge) return undefined;
      return path?.startsWith('#/components/schemas/') === true ? INTEGER : BIGINT;
    },
  });
  return `${GENERATED}\n${astToString(ast)}`;
}

/** A document whose `webhooks` have no `operationId`: clients handle those operations, and `operations` is what we serve. */
function withoutReceivers(document: JsonObject): JsonObject {
  if (document.webhooks === undefined) return document;
  const webhooks = mapObjects(document.webhooks, ({ operationId: _, ...object }) => object);
  return { ...document, webhooks };
}

/**
 * The reader fills defaults in, leaves a nullable parameter out instead of handing a null on, and makes a bigint of the
 * text of a large integer.
 */
function parameterAsRead(document: JsonObject): (object: JsonObject) => JsonObject {
  return object => {
    const { in: place, schema, required = false } = object;
    if (typeof place !== 'string' || !isObject(schema)) return object;
    const isLarge = bigIntegerBits(resolve(document, schema)) !== undefined;
    return {
      ...object,
      schema: isLarge ? { ...resolve(document, schema), type: 'integer' } : mapObjects(schema, withoutNull),
      required: required === true || schema.default !== undefined,
    };
  };
}

function withoutNull(schema: JsonObject): JsonObject {
  if (!Array.isArray(schema.type)) return schema;
  const [type, ...more] = schema.type.filter(name => name !== 'null');
  return { ...schema, type: more.length === 0 ? (type ?? null) : [type ?? null, ...more] };
}
