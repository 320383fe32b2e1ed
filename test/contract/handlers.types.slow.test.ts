import { expect, test } from 'vitest';
import { compilerMessages } from '../support/compiler-messages.ts';

const OPERATIONS = `import type { GatedHandlers, Handlers } from '../../src/contract/contracts/operations.ts';
interface Operations {
  getOne: {
    parameters: { path: { id: string }; query?: undefined };
    responses: {
      200: { content: { 'application/json': { id: string } } };
      404: { content: { 'application/json': { message: string } } };
    };
  };
  getAll: {
    parameters: { path?: undefined; query?: { size?: number } };
    responses: { 200: { content: { 'application/json': { ids: string[] } } } };
  };
}
type All = Handlers<Operations>;
interface Writing {
  make: {
    parameters: { path?: undefined; query?: undefined };
    requestBody: { content: { 'application/json': { name: string } } };
    responses: {
      200: { content: { 'application/json': { id: string } } };
      201: { content: { 'application/json': { id: string; key: string } } };
    };
  };
  poke: {
    parameters: { path?: undefined; query?: undefined };
    requestBody?: { content: { 'application/json': { force?: boolean } } };
    responses: { 200: { content: { 'text/csv': string } } };
  };
}
type Gated = GatedHandlers<Writing, 'poke', { organization: string }, { address: string }>;
`;
const ONE = `getOne: async ({ path }) => ({ status: 200, body: { id: path.id } }),`;
const ALL = `getAll: async ({ query }) => ({ status: 200, body: { ids: [String(query.size)] } }),`;

/** The compiler's messages for a program that serves the operations with these handlers. */
function messagesFor(handlers: string, type = 'All'): string[] {
  const text = `${OPERATIONS}export const handlers = { ${handlers} } satisfies ${type};\n`;
  return compilerMessages('test/contract/program-of-this-test.ts', text).map(({ message }) => message);
}

test('exactly one handler per operation, each with a declared answer, compiles', () => {
  expect(messagesFor(ONE + ALL)).toEqual([]);
});

test.each([
  ['a missing handler', ONE, "Property 'getAll' is missing"],
  [
    'a misspelt handler',
    `${ONE} getAl: async () => ({ status: 200, body: { ids: [] } }),`,
    "'getAl' does not exist",
  ],
  [
    'an undeclared handler',
    `${ONE}${ALL} getNone: async () => ({ status: 200, body: {} }),`,
    "'getNone' does not exist",
  ],
  [
    'an undeclared status',
    `${ONE} getAll: async () => ({ status: 404, body: { message: '' } }),`,
    "'404' is not assignable",
  ],
  [
    'a body of another type',
    `${ALL} getOne: async () => ({ status: 200, body: { id: 1 } }),`,
    "'number' is not assignable to type 'string'",
  ],
  [
    'a parameter that the operation does not have',
    `${ALL} getOne: async ({ path }) => ({ status: 200, body: { id: path.name } }),`,
    "Property 'name' does not exist",
  ],
])(
  '%s does not compile',
  (_name, handlers, message) => {
    expect(messagesFor(handlers).join('\n')).toContain(message);
  },
  20_000,
);

const MAKE = `make: async ({ body }, caller) => ({ status: 201, body: { id: body.name, key: caller.organization } }),`;
const POKE = `poke: async ({ body }, caller) => ({ status: 200, body: caller.address + String(body.force) }),`;

test('handlers receive a typed body and their kind of caller, and may return any declared success', () => {
  const both = `make: async ({ body }) => body.name === '' ? { status: 200, body: { id: '' } } : { status: 201, body: { id: '', key: '' } },`;

  expect(messagesFor(MAKE + POKE, 'Gated')).toEqual([]);
  expect(messagesFor(both + POKE, 'Gated')).toEqual([]);
});

test.each([
  [
    'the body of the 200 answer with the status 201',
    `${POKE} make: async () => ({ status: 201, body: { id: '' } }),`,
    "Property 'key' is missing",
  ],
  [
    'a field that the body does not have',
    `${POKE} make: async ({ body }) => ({ status: 200, body: { id: body.id } }),`,
    "Property 'id' does not exist",
  ],
  [
    'a visitor treated as a known caller',
    `${MAKE} poke: async (_, caller) => ({ status: 200, body: caller.organization }),`,
    "Property 'organization' does not exist",
  ],
  [
    'a body in an operation without one',
    `${ONE}getAll: async ({ body }) => ({ status: 200, body: { ids: [String(body)] } }),`,
    "Property 'body' does not exist",
  ],
])(
  '%s does not compile',
  (_name, handlers, message) => {
    const type = handlers.includes('getAll') ? 'All' : 'Gated';

    expect(messagesFor(handlers, type).join('\n')).toContain(message);
  },
  20_000,
);
