import { createRequire } from 'node:module';
import type { ValidateFunction } from 'ajv';
import { bodyValidators, parameterValidators } from '../../scripts/generate/validators.ts';
import type { Contract } from '../../src/contract/contracts/contract.ts';
import type { JsonObject } from '../../src/contract/contracts/document.ts';
import type { OperationTable, PublicOperation } from '../../src/contract/contracts/operations.ts';

interface Note {
  id: string;
  text: string;
}
interface NoteBody {
  text: string;
  color: 'red' | 'blue';
  owner?: string;
  amount?: string;
  page?: string;
  parts?: { size: number }[];
  extra?: Record<string, string>;
}

/** The types that would be generated for the contract below. */
export interface GatedOperations {
  createNote: {
    parameters: { path?: undefined; query?: { copies?: number } };
    requestBody: { content: { 'application/json': NoteBody } };
    responses: { 201: { content: { 'application/json': Note } } };
  };
  changeNote: {
    parameters: { path: { id: string }; query?: undefined };
    requestBody: { content: { 'application/json': { text?: string | null } } };
    responses: { 200: { content: { 'application/json': Note } } };
  };
  getNote: {
    parameters: { path: { id: string }; query?: undefined };
    requestBody?: never;
    responses: { 200: { content: { 'application/json': Note } } };
  };
  exportNotes: {
    parameters: { path?: undefined; query?: undefined };
    requestBody?: never;
    responses: { 200: { content: { 'text/csv': string } } };
  };
  openNote: {
    parameters: { path?: undefined; query?: undefined };
    requestBody?: { content: { 'application/json': { text?: string } } };
    responses: { 201: { content: { 'application/json': Note } } };
  };
}

const NOTE: JsonObject = {
  type: 'object',
  required: ['id', 'text'],
  properties: { id: { type: 'string' }, text: { type: 'string' } },
};
const COLOR: JsonObject = { type: 'string', enum: ['red', 'blue'], default: 'red' };
const NOTE_BODY: JsonObject = {
  type: 'object',
  required: ['text'],
  properties: {
    text: { type: 'string', minLength: 1, maxLength: 300_000 },
    color: COLOR,
    owner: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
    amount: { type: 'string', pattern: '^(0|[1-9][0-9]{0,77})$', format: 'amount' },
    page: { type: 'string', format: 'https-url' },
    parts: { type: 'array', maxItems: 6_000, items: { $ref: '#/components/schemas/Part' } },
    extra: { type: 'object', additionalProperties: { type: 'string' } },
  },
};
const PART: JsonObject = { type: 'object', required: ['size'], properties: { size: { type: 'integer' } } };
const ID: JsonObject = {
  name: 'id',
  in: 'path',
  required: true,
  schema: { type: 'string', pattern: '^[a-z]+$' },
};
const COPIES: JsonObject = { name: 'copies', in: 'query', schema: { type: 'integer', maximum: 9 } };

const json = (schema: JsonObject): JsonObject => ({ content: { 'application/json': { schema } } });
const answer = (status: string, content: JsonObject): JsonObject => ({
  [status]: { description: 'The answer.', ...content },
});

const WRITE = [{ bearer: ['write'] }, { apiKey: ['write'] }];
const READ = [{ bearer: ['read'] }, { apiKey: ['read'] }];

const document: JsonObject = {
  openapi: '3.1.0',
  info: { title: 'Notes', version: '1' },
  paths: {
    '/notes': {
      post: {
        operationId: 'createNote',
        security: WRITE,
        parameters: [COPIES],
        requestBody: { required: true, ...json(NOTE_BODY) },
        responses: answer('201', json(NOTE)),
      },
    },
    '/notes/{id}': {
      get: {
        operationId: 'getNote',
        security: READ,
        parameters: [ID],
        responses: answer('200', json(NOTE)),
      },
      patch: {
        operationId: 'changeNote',
        security: WRITE,
        parameters: [ID],
        requestBody: json({
          type: 'object',
          minProperties: 1,
          properties: { text: { type: ['string', 'null'] } },
        }),
        responses: answer('200', json(NOTE)),
      },
    },
    '/notes/export': {
      get: {
        operationId: 'exportNotes',
        security: READ,
        responses: answer('200', { content: { 'text/csv': { schema: { type: 'string' } } } }),
      },
    },
    '/open/notes': {
      post: {
        operationId: 'openNote',
        requestBody: json({ type: 'object', properties: { text: { type: 'string' } } }),
        responses: answer('201', json(NOTE)),
      },
    },
  },
  components: {
    schemas: { Part: PART },
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer' },
      apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
    },
  },
};

const id = { name: 'id', in: 'path', required: true, read: 'string', many: 'one', check: 'id' } as const;
const copies = {
  name: 'copies',
  in: 'query',
  required: false,
  read: 'integer',
  many: 'one',
  check: 'copies',
} as const;

const table = {
  createNote: {
    id: 'createNote',
    method: 'post',
    path: '/notes',
    parameters: [copies],
    body: true,
    replayable: true,
    statuses: [201],
    security: WRITE,
  },
  changeNote: {
    id: 'changeNote',
    method: 'patch',
    path: '/notes/{id}',
    parameters: [id],
    body: true,
    replayable: true,
    statuses: [200],
    security: WRITE,
  },
  getNote: {
    id: 'getNote',
    method: 'get',
    path: '/notes/{id}',
    parameters: [id],
    statuses: [200],
    security: READ,
  },
  exportNotes: {
    id: 'exportNotes',
    method: 'get',
    path: '/notes/export',
    parameters: [],
    media: { '200': 'text/csv; charset=utf-8' },
    statuses: [200],
    security: READ,
  },
  openNote: {
    id: 'openNote',
    method: 'post',
    path: '/open/notes',
    parameters: [],
    body: true,
    statuses: [201],
    security: [],
  },
} as const satisfies OperationTable;

export type GatedPublic = PublicOperation<typeof table>;

/** The exports of a generated file. */
function loaded(code: string | undefined): Record<string, ValidateFunction> {
  const module: { exports: Record<string, ValidateFunction> } = { exports: {} };
  new Function('module', 'exports', 'require', code ?? '')(
    module,
    module.exports,
    createRequire(import.meta.url),
  );
  return module.exports;
}

/**
 * Five operations behind a gate, one of them open to every caller, with validators like those of `npm run generate`.
 */
export const gatedContract: Contract<GatedOperations> = {
  name: 'gated',
  document,
  table,
  parameters: loaded(parameterValidators(document)),
  bodies: loaded(bodyValidators(document)),
};
