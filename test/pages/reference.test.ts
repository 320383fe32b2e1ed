import { expect, test } from 'vitest';
import { requestOfForm } from '#pages/reference/browser/request.ts';
import { test as withDevnet } from '../support/served-devnet.ts';

const field = (name: string, section: string, value: string, isList = false) => ({
  name,
  section,
  value,
  isList,
});

test('a form sends what was filled in, each in its place', () => {
  const { target, init } = requestOfForm({ method: 'post', path: '/things/{id}', key: 'sk_1' }, [
    field('id', 'path', 'a/b'),
    field('chain_id', 'query', '1, 2', true),
    field('q', 'query', ' a&b '),
    field('cursor', 'query', ''),
    field('Idempotency-Key', 'header', 'once'),
    field('body', 'body', '{"a":1}'),
  ]);

  expect(target).toBe('/things/a%2Fb?chain_id=1&chain_id=2&q=a%26b');
  expect(init.method).toBe('POST');
  expect(Object.fromEntries(new Headers(init.headers))).toEqual({
    authorization: 'Bearer sk_1',
    'content-type': 'application/json',
    'idempotency-key': 'once',
  });
  expect(init.body).toBe('{"a":1}');
});

withDevnet('every operation and schema has a page, and every link leads somewhere', async ({ service }) => {
  const { paths, components } = await (await fetch(`${service.url}/openapi.json`)).json();
  const operations = Object.values<Record<string, { operationId?: string }>>(paths).flatMap(item =>
    Object.values(item).flatMap(({ operationId }) => operationId ?? []),
  );
  const expected = [
    ...operations.map(id => `/docs/operations/${id}`),
    ...Object.keys(components.schemas).map(name => `/docs/schemas/${name}`),
  ];

  const index = await (await fetch(`${service.url}/docs`)).text();

  const linked = [...index.matchAll(/href="(\/docs\/[^"]+)"/g)].map(([, path = '']) => path);
  expect(linked.toSorted()).toEqual(expected.toSorted());
  const found = new Set<string>();
  for (const path of expected) {
    const response = await fetch(service.url + path);
    expect([path, response.status]).toEqual([path, 200]);
    const html = await response.text();
    expect(html).not.toMatch(/undefined|\[object Object\]/);
    for (const [, link = ''] of html.matchAll(/href="(\/docs\/[^"]+)"/g)) found.add(link);
  }
  expect([...found].filter(path => !expected.includes(path))).toEqual([]);
});

withDevnet('a page that does not exist is not found', async ({ service }) => {
  for (const path of ['/docs/', '/docs/operations/nothing', '/docs/schemas/constructor'])
    expect((await fetch(service.url + path)).status).toBe(404);
});
