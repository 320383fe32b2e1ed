import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { dataServiceContract } from '../../src/contract/contracts/data-service.ts';
import {
  child,
  type Json,
  type JsonObject,
  list,
  operationsOf,
} from '../../src/contract/contracts/document.ts';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { insightsContract } from '../../src/contract/contracts/insights.ts';
import { paymentsContract } from '../../src/contract/contracts/payments.ts';
import { descriptionHandlers } from '../../src/contract/description/description.ts';
import { mergedDocument } from '../../src/contract/description/merged-document.ts';
import { mintlifyVariant } from '../../src/contract/description/mintlify.ts';
import { publicDocument } from '../../src/contract/description/public-document.ts';
import { mount } from '../../src/contract/mount/mount.ts';
import { chainsHandler } from '../../src/data/chain-status.ts';
import { isObject } from '../../src/lib/json.ts';
import { type Served, serve } from '../http/serve.ts';
import { startTestDataService } from '../lab/data-service.ts';
import { smallContract } from '../support/small-contract.ts';

const PUBLIC_URL = 'https://data.example.org';
/** Description of the data service: documents 1 and 2 as one. */
const DOCUMENT = mergedDocument('Reference', [explorerContract, insightsContract, dataServiceContract]);
const PUBLIC = publicDocument(DOCUMENT, PUBLIC_URL);
let server: Served;

beforeAll(async () => {
  const { json: getDescription, yaml: getDescriptionYaml } = descriptionHandlers(
    () => DOCUMENT,
    () => PUBLIC_URL,
  );
  const exportList = async () => ({ status: 200 as const, body: '' });
  const handlers = { listChains: chainsHandler([]), exportList, getDescription, getDescriptionYaml };
  const routes = [await mount({ contract: dataServiceContract, handlers, validateResponses: true })];
  server = await serve(routes);
});
afterAll(() => server.close(0));

const get = (path: string, headers: Record<string, string> = {}) => fetch(server.url + path, { headers });

async function json(path: string): Promise<JsonObject> {
  const body: Json = JSON.parse(await (await get(path)).text());
  if (!isObject(body)) throw new Error(`${path} is no object`);
  return body;
}

describe('the description', () => {
  test('is the contract as served', async () => {
    const ids = (document: JsonObject) =>
      operationsOf(document).map(({ path, method, operation }) => [path, method, operation.operationId]);
    const plain = await json('/openapi.json');

    expect(plain).toEqual(PUBLIC);
    expect(await json('/openapi.json?other=1')).toEqual(plain);
    expect(ids(plain)).toEqual(ids(DOCUMENT));
  });

  test('has the public address of the service and no extensions of ours', async () => {
    const plain = await json('/openapi.json');

    expect(plain.servers).toEqual([expect.objectContaining({ url: PUBLIC_URL })]);
    for (const document of [plain, publicDocument(paymentsContract.document, PUBLIC_URL)]) {
      const names = objects(document).flatMap(object => Object.keys(object));
      expect(names.filter(name => name.startsWith('x-'))).toEqual([]);
    }
  });

  test('leaves property names and example data unchanged', () => {
    const schema = {
      properties: { 'x-a': { type: 'string', 'x-form': 'a text' }, default: { 'x-form': 'a text' } },
      examples: [{ 'x-a': 'b' }],
    };

    const plain = publicDocument({ components: { schemas: { It: schema } } }, PUBLIC_URL);

    expect(child(child(plain, 'components'), 'schemas')).toEqual({
      It: { ...schema, properties: { 'x-a': { type: 'string' }, default: {} } },
    });
  });

  test('names the permission of each operation in its text', () => {
    const described = new Map(
      operationsOf(publicDocument(paymentsContract.document, PUBLIC_URL)).map(({ operation }) => [
        operation.operationId,
        String(operation.description),
      ]),
    );

    expect(described.get('createPaymentLink')).toMatch(/\n\nNeeds a key with the permission `write`\.$/);
    expect(described.get('listApiKeys')).toMatch(/\n\nNeeds a key with the permission `admin`\.$/);
    expect(described.get('startCheckout')).toMatch(/\n\nNeeds no key\.$/);
    expect(JSON.stringify(PUBLIC)).not.toMatch(/Needs (a|no) key/);
  });

  test.each(['mintlify', 'mintlify=', 'mintlify=true', 'mintlify=0', 'a=1&mintlify'])(
    'with ?%s is the variant, in JSON and in YAML',
    async query => {
      const variant = await json(`/openapi.json?${query}`);
      const yaml = await get(`/openapi.yaml?${query}`);

      expect(variant).toEqual(mintlifyVariant(DOCUMENT, PUBLIC_URL));
      expect(parse(await yaml.text())).toEqual(variant);
    },
  );

  test('in YAML parses to the same as in JSON', async () => {
    const yaml = await get('/openapi.yaml');

    expect(yaml.headers.get('content-type')).toMatch(/^application\/yaml/);
    expect(parse(await yaml.text())).toEqual(PUBLIC);
  });

  test.each(['/openapi.json', '/openapi.yaml', '/openapi.json?mintlify'])(
    '%s is a 304 for a client with the current tag, and the variant has its own tag',
    async path => {
      const first = await get(path);
      const etag = first.headers.get('etag') ?? '';
      const second = await get(path, { 'if-none-match': etag });
      const tags = await Promise.all(
        ['/openapi.json', '/openapi.json?mintlify'].map(async one => (await get(one)).headers.get('etag')),
      );

      expect(second.status).toBe(304);
      expect(await second.text()).toBe('');
      expect(new Set(tags).size).toBe(2);
    },
  );
});

describe('the data service describes its three contracts as one,', () => {
  test.each(['/openapi.json', '/openapi.yaml', '/openapi.json?mintlify', '/openapi.yaml?mintlify'])(
    'with 76 operations at its listening address in %s',
    async path => {
      await using service = await startTestDataService([]);
      const text = await (await fetch(service.url + path)).text();
      const described: Json = path.includes('json') ? JSON.parse(text) : parse(text);
      if (!isObject(described)) throw new Error(`${path} is no object`);
      const ids = operationsOf(described).map(({ operation }) => operation.operationId);

      expect(ids).toHaveLength(76);
      expect(described.servers).toEqual([expect.objectContaining({ url: service.url })]);
      expect(ids).toEqual(
        [explorerContract, insightsContract, dataServiceContract].flatMap(({ table }) => Object.keys(table)),
      );
    },
  );

  test('also on the page of the reference, which links to /openapi.json', async () => {
    await using service = await startTestDataService([]);
    const html = await (await fetch(`${service.url}/docs`)).text();

    expect(html).toContain('<title>tollgate data service</title>');
    expect(html).toContain('href="/openapi.json"');
  });

  test.each([explorerContract, insightsContract])(
    'and $name declares only operations that are served',
    async contract => {
      const file = new URL(`../../spec/${contract.name}/openapi.yaml`, import.meta.url);
      const written: Json = parse(await readFile(file, 'utf8'));
      if (!isObject(written)) throw new Error('no object');
      const ids = operationsOf(written).map(({ operation }) => String(operation.operationId));

      expect(objects(written).filter(object => 'x-planned' in object)).toEqual([]);
      expect(ids.toSorted()).toEqual(Object.keys(contract.table).sort());
    },
  );
});

/** Every object anywhere in a document. */
function objects(value: Json): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(objects);
  return isObject(value) ? [value, ...Object.values(value).flatMap(objects)] : [];
}

describe('the variant for the documentation tool', () => {
  const variant = mintlifyVariant(DOCUMENT, PUBLIC_URL);
  const small = mintlifyVariant(smallContract.document, `${PUBLIC_URL}/`);
  const operations = operationsOf(variant);

  test('has every operation, one absolute server and groups of tags', () => {
    const ids = (document: JsonObject) =>
      operationsOf(document).map(({ path, method, operation }) => [path, method, operation.operationId]);

    expect(ids(variant)).toEqual(ids(DOCUMENT));
    expect(variant.servers).toEqual([expect.objectContaining({ url: PUBLIC_URL })]);
    expect(list(variant, 'tags').length).toBeGreaterThan(0);
    for (const tag of list(variant, 'tags')) {
      expect(tag).toMatchObject({ 'x-group': expect.any(String), 'x-displayName': expect.any(String) });
    }
    expect(variant['x-tagGroups']).toEqual([
      { name: expect.any(String), tags: list(variant, 'tags').map(tag => (isObject(tag) ? tag.name : '')) },
    ]);
  });

  test('has samples without placeholders, and page settings, for every operation', () => {
    for (const { operation } of operations) {
      expect(operation['x-codeSamples']).toEqual([
        {
          lang: 'bash',
          label: 'cURL',
          source: expect.stringMatching(
            /^curl (--no-buffer --max-time 5 )?'https:\/\/data\.example\.org\/[^{}]+'$/,
          ),
        },
        {
          lang: 'typescript',
          label: 'TypeScript',
          source: expect.stringContaining(`createClient<paths>({ baseUrl: '${PUBLIC_URL}' })`),
        },
        { lang: 'python', label: 'Python', source: expect.stringContaining(`"${PUBLIC_URL}/`) },
      ]);
      expect(operation['x-mint']).toEqual({
        metadata: {
          title: operation.summary,
          sidebarTitle: operation.summary,
          description: expect.stringMatching(/\S/),
          playground: 'interactive',
        },
        href: expect.stringMatching(/^\/api-reference\/[a-z0-9-]+\/[a-z0-9-]+$/),
        mcp: { enabled: true, name: expect.any(String) },
      });
    }
  });

  test('has summaries that are unique within their tag, even if the contract’s are not', () => {
    for (const document of [variant, small]) {
      const names = operationsOf(document).map(
        ({ operation }) => `${JSON.stringify(operation.tags)} ${operation.summary}`,
      );
      expect(new Set(names).size).toBe(names.length);
    }
  });

  test('contains none of our extensions, and nothing that the tool shows as "any"', () => {
    const ours = ['x-decision', 'x-form', 'x-planned', 'x-documented-statuses', 'unevaluatedProperties'];
    for (const document of [variant, small]) {
      for (const object of objects(document)) {
        for (const name of ours) expect(object).not.toHaveProperty([name]);
        expect(Array.isArray(object.prefixItems)).toBe(false);
        if ('const' in object) expect(object).toHaveProperty('type');
      }
    }
  });

  test('keeps every method and the shared parameters of a path, and shows how to authenticate', () => {
    const item = child(child(small, 'paths'), '/things/{id}');

    expect(list(item, 'parameters')).toHaveLength(1);
    expect(Object.keys(item).sort()).toEqual(['get', 'parameters', 'put']);
    expect(JSON.stringify(child(item, 'put')['x-codeSamples'])).toContain('Authorization: Bearer YOUR_KEY');
    expect(child(item, 'put').description).toBe('Needs a key with the permission `admin`.');
    expect(child(child(small, 'components'), 'securitySchemes')).toMatchObject({
      bearer: { 'x-default': 'YOUR_KEY' },
    });
  });

  test('shows the permission of an operation and a request body', () => {
    const payments = mintlifyVariant(paymentsContract.document, PUBLIC_URL);
    const { post = {} } = child(child(payments, 'paths'), '/api/v1/payment-links');
    const { post: open = {} } = child(child(payments, 'paths'), '/api/v1/pay/links/{short_code}/sessions');

    expect(JSON.stringify(post)).toContain('Needs a key with the permission `write`.');
    expect(JSON.stringify(post)).toContain(`-H 'Content-Type: application/json'`);
    expect(JSON.stringify(post)).toContain(`-d '{\\"name\\":\\"Field notebooks\\"`);
    expect(JSON.stringify(open)).not.toMatch(/YOUR_KEY|Needs a key/);
  });

  test('does not change the contract', () => {
    const before = JSON.stringify(DOCUMENT);

    mintlifyVariant(DOCUMENT, PUBLIC_URL);

    expect(JSON.stringify(DOCUMENT)).toBe(before);
  });
});
