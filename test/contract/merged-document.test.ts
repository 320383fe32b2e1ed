import { describe, expect, test } from 'vitest';
import {
  child,
  type Json,
  type JsonObject,
  list,
  operationsOf,
  parametersOf,
  resolve,
} from '../../src/contract/contracts/document.ts';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { insightsContract } from '../../src/contract/contracts/insights.ts';
import { mergedDocument } from '../../src/contract/description/merged-document.ts';
import { mintlifyVariant } from '../../src/contract/description/mintlify.ts';
import { isObject } from '../../src/lib/json.ts';

/** A value with every reference followed; a circular one is marked. */
function expanded(document: JsonObject, value: Json, above: readonly string[] = []): Json {
  if (Array.isArray(value)) return value.map(item => expanded(document, item, above));
  if (!isObject(value)) return value;
  const { $ref: ref, ...beside } = value;
  if (typeof ref === 'string') {
    if (above.includes(ref)) return 'recursive';
    const target = expanded(document, resolve(document, { $ref: ref }), [...above, ref]);
    return { ...(isObject(target) ? target : {}), ...beside };
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, expanded(document, member, above)]),
  );
}

describe('the data service as one', () => {
  const contracts = [explorerContract, insightsContract] as const;
  const merged = mergedDocument('Data service', contracts);

  test('has every operation of both, in order', () => {
    const ids = (document: JsonObject) =>
      operationsOf(document).map(({ path, method, operation }) => [path, method, operation.operationId]);

    expect(ids(merged)).toEqual(contracts.flatMap(({ document }) => ids(document)));
    expect(ids(merged)).toHaveLength(72);
  });

  test.each(contracts)('describes each operation of $name exactly as its contract does', ({ document }) => {
    const inMerged = new Map(operationsOf(merged).map(({ operation }) => [operation.operationId, operation]));
    for (const { operation } of operationsOf(document)) {
      const same = inMerged.get(operation.operationId) ?? {};

      expect(expanded(merged, same)).toEqual(expanded(document, operation));
    }
  });

  test('has its own title, the text of both, one list of tags, and no contract-specific extension', () => {
    const info = child(merged, 'info');
    const tags = list(merged, 'tags').map(tag => (isObject(tag) ? String(tag.name) : ''));
    const used = operationsOf(merged).flatMap(({ operation }) => list(operation, 'tags').map(String));

    expect(info).toMatchObject({ title: 'Data service', version: '1.0.0' });
    for (const { document } of contracts) {
      expect(info.description).toContain(String(child(document, 'info').description).trim());
    }
    expect(new Set(tags)).toEqual(new Set(used));
    expect(new Set(tags).size).toBe(tags.length);
    expect(Object.keys(merged).filter(key => key.startsWith('x-'))).toEqual([]);
  });

  test('merges equal components and keeps different ones apart', () => {
    const { headers, schemas } = child(merged, 'components');
    const names = (members: Json | undefined) => (isObject(members) ? Object.keys(members) : []);

    expect(names(headers)).toContain('ETag');
    expect(names(headers)).not.toContain('InsightsETag');
    expect(names(schemas)).toEqual(
      expect.arrayContaining(['ErrorBody', 'InsightsErrorBody', 'InsightsTransaction']),
    );
  });

  test('gives every operation its own page, without numbers in its name', () => {
    const variant = mintlifyVariant(merged, 'https://data.example.org');
    const pages = operationsOf(variant).map(({ operation }) => `${operation.tags} ${operation.summary}`);

    expect(new Set(pages).size).toBe(72);
    expect(pages.filter(page => /\(\d+\)$/.test(page))).toEqual([]);
  });

  test('does not change the contracts', () => {
    const before = JSON.stringify(contracts.map(({ document }) => document));

    mergedDocument('Again', contracts);

    expect(JSON.stringify(contracts.map(({ document }) => document))).toBe(before);
  });
});

/** A contract of one operation that answers a schema by reference. */
function contractOf(name: string, more: JsonObject, components: JsonObject = {}) {
  const answer = { description: 'It.', $ref: '#/components/responses/It' };
  const operation = { operationId: `get${name}`, tags: ['Things'], responses: { '200': answer } };
  const document: JsonObject = {
    openapi: '3.1.0',
    info: { title: name, version: '1' },
    tags: [{ name: 'Things', description: `Of ${name}.` }],
    paths: { [`/${name}`]: { get: operation } },
    components,
    ...more,
  };
  return { name, document };
}

const IT: JsonObject = {
  It: { description: 'It.', content: { 'application/json': { schema: { $ref: '#/components/schemas/A' } } } },
};
const schemas = (leaf: JsonObject): JsonObject => ({
  responses: IT,
  schemas: { A: { type: 'array', items: { $ref: '#/components/schemas/B' } }, B: leaf, C: { type: 'null' } },
});

describe('components', () => {
  test('that look alike but refer to different ones are kept apart', () => {
    const one = contractOf('one', {}, schemas({ type: 'string' }));
    const two = contractOf('two', {}, schemas({ type: 'integer' }));

    const merged = mergedDocument('Both', [one, two]);
    const [first, second] = operationsOf(merged).map(({ operation }) => operation);

    expect(Object.keys(child(child(merged, 'components'), 'schemas'))).toEqual([
      'A',
      'B',
      'C',
      'TwoA',
      'TwoB',
    ]);
    expect(JSON.stringify(expanded(merged, first ?? {}))).toContain('"items":{"type":"string"}');
    expect(JSON.stringify(expanded(merged, second ?? {}))).toContain('"items":{"type":"integer"}');
  });

  test('keep their discriminators under the new names', () => {
    const choice = {
      oneOf: [],
      discriminator: { propertyName: 'a', mapping: { b: '#/components/schemas/B' } },
    };
    const one = contractOf('one', {}, schemas({ type: 'string' }));
    const two = contractOf('two', {}, { schemas: { B: { type: 'integer' }, D: choice } });

    const { D } = child(child(mergedDocument('Both', [one, two]), 'components'), 'schemas');

    expect(D).toMatchObject({ discriminator: { mapping: { b: '#/components/schemas/TwoB' } } });
  });

  test('that would need an existing name are an error', () => {
    const one = contractOf('one', {}, { schemas: { B: { type: 'string' } } });
    const two = contractOf('two', {}, { schemas: { B: { type: 'null' }, TwoB: { type: 'null' } } });

    expect(() => mergedDocument('Both', [one, two])).toThrow('schemas/TwoB has the name');
  });
});

describe('security', () => {
  const scheme = (name: string): JsonObject => ({
    securitySchemes: { key: { type: 'apiKey', in: 'header', name } },
  });

  test('of each operation stays as in its contract, even if schemes share a name', () => {
    const open = contractOf('one', { security: [] }, scheme('x-one'));
    const closed = contractOf('two', { security: [{ key: ['read'] }] }, scheme('x-two'));

    const merged = mergedDocument('Both', [open, closed]);
    const needs = operationsOf(merged).map(({ operation }) => operation.security ?? merged.security);

    expect(needs).toEqual([[], [{ Twokey: ['read'] }]]);
    expect(child(child(child(merged, 'components'), 'securitySchemes'), 'Twokey')).toMatchObject({
      name: 'x-two',
    });
  });

  test('of an operation overrides that of its contract', () => {
    const closed = contractOf('one', { security: [{ key: [] }] }, scheme('x-one'));
    const two = contractOf('two', { security: [] });
    const mixed = {
      ...two,
      document: {
        ...two.document,
        paths: { '/a': { get: { operationId: 'a', security: [{ key: ['write'] }] } } },
      },
    };

    const merged = mergedDocument('Both', [closed, contractOf('three', { security: [] }), mixed]);
    const needs = operationsOf(merged).map(({ operation }) => operation.security ?? merged.security);

    expect(needs).toEqual([[{ key: [] }], [], [{ key: ['write'] }]]);
  });
});

test('a tag in both appears once, with the first one’s description', () => {
  const merged = mergedDocument('Both', [contractOf('one', {}), contractOf('two', {})]);

  expect(merged.tags).toEqual([{ name: 'Things', description: 'Of one.' }]);
});

test.each<[string, JsonObject, string]>([
  ['a path', { paths: { '/one': { get: { operationId: 'other' } } } }, 'two: the path /one is in another'],
  [
    'an operation',
    { paths: { '/two': { get: { operationId: 'getone' } } } },
    'two: the operation getone is in',
  ],
])('%s in both is an error', (_name, more, message) => {
  expect(() => mergedDocument('Both', [contractOf('one', {}), contractOf('two', more)])).toThrow(message);
});

test('operations whose parameters share a name keep their own', () => {
  const parameter = (type: string): JsonObject => ({
    parameters: { P: { name: 'p', in: 'query', schema: { type } } },
  });
  const path = (name: string): JsonObject => ({
    paths: {
      [`/${name}`]: { get: { operationId: name, parameters: [{ $ref: '#/components/parameters/P' }] } },
    },
  });
  const merged = mergedDocument('Both', [
    contractOf('one', path('one'), parameter('string')),
    contractOf('two', path('two'), parameter('integer')),
  ]);

  const types = operationsOf(merged).flatMap(({ path: at, operation }) =>
    parametersOf(merged, at, operation).map(({ schema }) => schema),
  );

  expect(types).toEqual([{ type: 'string' }, { type: 'integer' }]);
});
