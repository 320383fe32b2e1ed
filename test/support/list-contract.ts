import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Contract } from '../../src/contract/contracts/contract.ts';
import type { JsonObject } from '../../src/contract/contracts/document.ts';
import type { OperationTable } from '../../src/contract/contracts/operations.ts';

/** The types that would be generated for the contract below. */
export interface ListOperations {
  listNotes: {
    parameters: { path?: undefined; query?: { size?: number; kinds?: ('a' | 'b')[] } };
    responses: { 200: { content: { 'application/json': { items: { size: number }[] } } } };
  };
}

const SIZE: JsonObject = { type: 'integer', minimum: 1, maximum: 10, examples: [5] };
const KINDS: JsonObject = { type: 'array', maxItems: 3, items: { type: 'string', enum: ['a', 'b'] } };
const PAGE: JsonObject = {
  type: 'object',
  required: ['items'],
  properties: {
    items: {
      type: 'array',
      items: {
        type: 'object',
        required: ['size'],
        properties: { size: { type: 'integer' } },
        unevaluatedProperties: false,
      },
    },
  },
  unevaluatedProperties: false,
};
const ERROR: JsonObject = {
  type: 'object',
  required: ['message'],
  properties: { message: { type: 'string' } },
  unevaluatedProperties: false,
};
const required: JsonObject = { required: true, schema: { type: 'string' } };

const answer = (schema: JsonObject, headers: JsonObject = {}): JsonObject => ({
  description: 'One of the answers.',
  headers,
  content: { 'application/json': { schema } },
});

const table = {
  listNotes: {
    id: 'listNotes',
    method: 'get',
    path: '/notes',
    parameters: [
      { name: 'size', in: 'query', required: false, read: 'integer', many: 'one', check: 'Size' },
      { name: 'kinds', in: 'query', required: false, read: 'string', many: 'list', check: 'Kinds' },
    ],
    statuses: [200, 304, 400, 405, 500],
    security: [],
  },
} as const satisfies OperationTable;

const ajv = new Ajv2020({ strict: false });

/** One open operation: the smallest contract for a correct server. */
export const listContract: Contract<ListOperations> = {
  name: 'list',
  document: {
    openapi: '3.1.0',
    info: { title: 'List', version: '1' },
    paths: {
      '/notes': {
        get: {
          operationId: 'listNotes',
          parameters: [
            { name: 'size', in: 'query', schema: SIZE },
            { name: 'kinds', in: 'query', schema: KINDS },
          ],
          responses: {
            '200': answer(PAGE, { ETag: required }),
            '304': { description: 'As held.' },
            '400': answer(ERROR),
            '405': answer(ERROR, { Allow: required }),
            '500': answer(ERROR),
          },
        },
      },
    },
  },
  table,
  parameters: { Size: ajv.compile(SIZE), Kinds: ajv.compile(KINDS) },
};
