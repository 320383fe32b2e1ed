import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import type { JsonObject } from '../../src/contract/document.ts';
import { GENERATED } from './header.ts';

const BIGINT = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);

/** `types.ts`: the document's operations and schemas as TypeScript; integers beyond 2^53 are `bigint`. */
export async function typesOf(document: JsonObject): Promise<string> {
  const ast = await openapiTS(JSON.stringify(document), {
    emptyObjectsUnknown: true,
    transform: schema =>
      schema.type === 'integer' && (schema.format === 'uint64' || schema.format === 'uint256')
        ? BIGINT
        : undefined,
  });
  return `${GENERATED}\n${astToString(ast)}`;
}
