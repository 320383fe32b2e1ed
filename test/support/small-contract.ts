import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Contract } from '../../src/contract/contracts/contract.ts';
import { child, type JsonObject } from '../../src/contract/contracts/document.ts';
import type { OperationTable } from '../../src/contract/contracts/operations.ts';

/** The types that would be generated for the contract below. */
export interface SmallOperations {
  readThing: {
    parameters: { path: { id: string }; query?: { big?: bigint; tags?: ('a' | 'b')[]; count?: number } };
    responses: {
      200: { content: { 'application/json': { id: string } } };
      404: { content: { 'application/json': { message: string } } };
    };
  };
  writeThing: {
    parameters: { path: { id: string }; query?: undefined };
    responses: { 200: { content: { 'application/json': { id: string } } } };
  };
}

const ID_FORM = { type: 'string', pattern: '^[a-z]+$', 'x-form': 'lower-case letters' };
const ID = { name: 'id', in: 'path', required: true, schema: ID_FORM };
const BIG: JsonObject = { name: 'big', in: 'query', schema: { type: 'integer', format: 'uint256' } };
const TAGS: JsonObject = {
  name: 'tags',
  in: 'query',
  explode: false,
  schema: { type: 'array', maxItems: 3, items: { type: 'string', enum: ['a', 'b'] } },
};
const COUNT: JsonObject = {
  name: 'count',
  in: 'query',
  schema: { type: 'integer', minimum: 0, maximum: 10 },
};

const THING: JsonObject = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string' } },
  unevaluatedProperties: false,
};
const ERROR: JsonObject = {
  type: 'object',
  required: ['message'],
  properties: { message: { type: 'string' } },
  unevaluatedProperties: false,
};

const answers = (schema: JsonObject): JsonObject => ({
  description: 'One of the answers.',
  content: { 'application/json': { schema } },
});

const table = {
  readThing: {
    id: 'readThing',
    method: 'get',
    path: '/things/{id}',
    parameters: [
      { name: 'id', in: 'path', required: true, read: 'string', many: 'one', check: 'Id' },
      { name: 'big', in: 'query', required: false, read: 'bigint', many: 'one', bits: 256 },
      { name: 'tags', in: 'query', required: false, read: 'string', many: 'list', check: 'Tags' },
      { name: 'count', in: 'query', required: false, read: 'integer', many: 'one', check: 'Count' },
    ],
    statuses: [200, 404],
    security: [],
  },
  writeThing: {
    id: 'writeThing',
    method: 'put',
    path: '/things/{id}',
    parameters: [{ name: 'id', in: 'path', required: true, read: 'string', many: 'one', check: 'Id' }],
    statuses: [200],
    security: [{ bearer: ['admin'] }],
  },
} as const satisfies OperationTable;

const ajv = new Ajv2020({ strict: false, allErrors: false, verbose: true });
/** Two operations, one of them secured, written by hand in the form of `npm run generate`. */
export const smallContract: Contract<SmallOperations> = {
  name: 'small',
  document: {
    openapi: '3.1.0',
    info: { title: 'Small', version: '1' },
    tags: [{ name: 'things' }],
    paths: {
      '/things/{id}': {
        parameters: [ID],
        get: {
          operationId: 'readThing',
          summary: 'A thing',
          tags: ['things'],
          parameters: [BIG, TAGS, COUNT],
          responses: {
            '200': answers(THING),
            '400': answers(ERROR),
            '404': answers(ERROR),
            '405': answers(ERROR),
          },
        },
        put: {
          operationId: 'writeThing',
          summary: 'A thing',
          tags: ['things'],
          security: [{ bearer: ['admin'] }],
          responses: { '200': answers(THING), '405': answers(ERROR) },
        },
      },
    },
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  },
  table,
  parameters: {
    Id: ajv.compile(ID.schema),
    Tags: ajv.compile(child(TAGS, 'schema')),
    Count: ajv.compile(child(COUNT, 'schema')),
  },
};
