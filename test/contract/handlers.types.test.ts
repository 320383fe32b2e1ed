import ts from 'typescript';
import { expect, test } from 'vitest';

const ROOT = new URL('../../', import.meta.url).pathname;
const FILE = `${ROOT}test/contract/program-of-this-test.ts`;

const OPERATIONS = `import type { Handlers } from '../../src/contract/operations.ts';
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
`;
const ONE = `getOne: async ({ path }) => ({ status: 200, body: { id: path.id } }),`;
const ALL = `getAll: async ({ query }) => ({ status: 200, body: { ids: [String(query.size)] } }),`;

/** The compiler's messages for a program that serves the operations with these handlers. */
function messagesFor(handlers: string): string[] {
  const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [] }, ts.sys, ROOT);
  const host = ts.createCompilerHost(options);
  const text = `${OPERATIONS}export const handlers = { ${handlers} } satisfies All;\n`;
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, target) =>
    name === FILE ? ts.createSourceFile(name, text, target) : read(name, target);
  const exists = host.fileExists.bind(host);
  host.fileExists = name => name === FILE || exists(name);
  const program = ts.createProgram([FILE], { ...options, types: [], noUnusedLocals: false }, host);
  return program
    .getSemanticDiagnostics(program.getSourceFile(FILE))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

test('exactly one handler for each operation, each with a declared answer, compiles', () => {
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
    'a handler too many',
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
