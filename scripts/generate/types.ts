import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { child, type JsonObject, mapObjects, resolve } from '../../src/contract/contracts/document.ts';
import { isObject } from '../../src/lib/json.ts';
import { mapDocument } from './fields.ts';
import { GENERATED } from './header.ts';
import { bigIntegerBits } from './operations.ts';

const BIGINT = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);
/**
 * Type of large integers in schemas: a number is allowed where it is exact, because JSON.stringify cannot write a
 * bigint.
 */
const INTEGER = ts.factory.createUnionTypeNode([
  ts.factory.createKeywordTypeNode(ts.SyntaxKind.NumberKeyword),
  BIGINT,
]);

/**
 * Content of `types.ts`: the document's operations and schemas as TypeScript, without the headers of responses, which
 * no handler writes by their type. Integers beyond 2^53 are `bigint`, in schemas also `number`. Parameters are typed as
 * handlers receive them: one with a default is always present, and none is null.
 */
export async function typesOf(document: JsonObject): Promise<string> {
  const read = mapObjects(withoutHeaders(withoutReceivers(document)), parameterAsRead(document));
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

/**
 * Removes the `operationId` of webhooks: clients handle them, and `operations` lists only operations of this server.
 */
function withoutReceivers(document: JsonObject): JsonObject {
  if (document.webhooks === undefined) return document;
  const webhooks = mapObjects(document.webhooks, ({ operationId: _, ...object }) => object);
  return { ...document, webhooks };
}

/** Removes the headers of responses. A response has a description as text, unlike properties of that name. */
function withoutHeaders(document: JsonObject): JsonObject {
  const { headers: _, ...components } = child(document, 'components');
  return mapDocument({ ...document, components }, ({ headers, ...object }) =>
    headers === undefined || typeof object.description === 'string' ? object : { headers, ...object },
  );
}

/** Types a parameter as parsed: defaults are filled in, a null is dropped, and a large integer is a bigint. */
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
