import { expect, test } from 'vitest';
import { type MountOptions, mount } from '../../src/contract/mount/mount.ts';
import { rawGet } from '../support/raw-request.ts';
import { serveRoutes } from '../support/serve-routes.ts';
import { type SmallOperations, smallContract } from '../support/small-contract.ts';

const NEXT = 'from the next middleware';

/** The small contract over real HTTP; `called` lists the handler calls. */
async function serving(options: Partial<MountOptions<SmallOperations>> = {}) {
  const called: unknown[] = [];
  const route = await mount<SmallOperations>({
    contract: smallContract,
    handlers: {
      readThing: async request => {
        called.push(request);
        return { status: 200, body: { id: request.path.id } };
      },
      writeThing: async request => {
        called.push(request);
        return { status: 200, body: { id: request.path.id } };
      },
    },
    validateResponses: true,
    ...options,
  });
  const { url, close } = await serveRoutes(route, ctx => {
    ctx.body = NEXT;
  });
  return { url, called, [Symbol.asyncDispose]: close };
}

test('an operation with security is refused before its parameters are read, because there is no gate', async () => {
  await using server = await serving();

  const answers = await Promise.all([put('a'), put('NOT-VALID')]);

  for (const answer of answers) {
    expect(answer.status).toBe(401);
    expect(await answer.json()).toEqual({ message: 'No valid credentials were given' });
  }
  expect(server.called).toEqual([]);

  function put(id: string): Promise<Response> {
    const headers = { authorization: 'Bearer anything' };
    return fetch(`${server.url}/things/${id}`, { method: 'PUT', headers });
  }
});

test('an existing path answers other methods with 405 and the allowed ones', async () => {
  await using server = await serving();

  const answer = await fetch(`${server.url}/things/a`, { method: 'DELETE' });

  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toBe('GET, HEAD, PUT');
  expect(await answer.json()).toEqual({ message: 'DELETE is not allowed here' });
});

test('HEAD is answered like GET without the body', async () => {
  await using server = await serving();

  const get = await fetch(`${server.url}/things/a`);
  const head = await fetch(`${server.url}/things/a`, { method: 'HEAD' });
  const names = ['content-type', 'content-length', 'etag', 'vary'];

  expect(head.status).toBe(200);
  expect(await head.text()).toBe('');
  expect(names.map(name => head.headers.get(name))).toEqual(names.map(name => get.headers.get(name)));
});

test.each(['/', '/things', '/things/', '/things/a/b', '/thing/a', '//things/a'])(
  'the path %s, which is not in the contract, is left to other routes',
  async path => {
    await using server = await serving();

    const { body } = await rawGet(server.url, path);

    expect(body).toBe(NEXT);
    expect(server.called).toEqual([]);
  },
);

test('a status other than 200 from a handler is sent', async () => {
  await using server = await serving({
    handlers: {
      readThing: async () => ({ status: 404, body: { message: 'no such thing' } }),
      writeThing: async () => ({ status: 200, body: { id: 'a' } }),
    },
  });

  const answer = await fetch(`${server.url}/things/a`);

  expect(answer.status).toBe(404);
  expect(answer.headers.get('etag')).toBeNull();
  expect(await answer.json()).toEqual({ message: 'no such thing' });
});

/** Handlers with type errors that the compiler would catch, as from parsed JSON. */
function answering(json: string): MountOptions<SmallOperations>['handlers'] {
  return { readThing: async () => JSON.parse(json), writeThing: async () => JSON.parse(json) };
}

test.each([
  ['an undeclared status', '{"status":418,"body":{"id":"a"}}'],
  ['a missing field', '{"status":200,"body":{}}'],
  ['an undeclared field', '{"status":200,"body":{"id":"a","extra":1}}'],
  ['a wrong type', '{"status":200,"body":{"id":1}}'],
])('%s in an answer is a 500 where answers are checked', async (_name, json) => {
  await using server = await serving({ handlers: answering(json) });

  const answer = await fetch(`${server.url}/things/a`);

  expect(answer.status).toBe(500);
  expect(await answer.json()).toEqual({ message: 'Internal server error' });
});

test('answers are not checked where the check is switched off', async () => {
  await using server = await serving({
    validateResponses: false,
    handlers: answering('{"status":200,"body":{"extra":1}}'),
  });

  const answer = await fetch(`${server.url}/things/a`);

  expect([answer.status, await answer.json()]).toEqual([200, { extra: 1 }]);
});

test.each([
  '/things/%zz',
  '/things/%',
  '/things/%00',
  '/things/a%00b',
  '/things/%ff',
  '/things/a?x=%zz',
  '/things/a?x=%00',
])('the target %s is a 400 and reaches no handler', async target => {
  await using server = await serving();

  const answer = await rawGet(server.url, target);

  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.body)).toEqual({ message: expect.any(String) });
  expect(server.called).toEqual([]);
});

test('a handler receives typed values: numbers, exact integers and lists', async () => {
  await using server = await serving();

  await fetch(`${server.url}/things/abc?count=7&big=${2n ** 255n}&tags=b,a&unknown=1`);

  expect(server.called).toEqual([
    { path: { id: 'abc' }, query: { count: 7, big: 2n ** 255n, tags: ['b', 'a'] } },
  ]);
});

test('an operation without a handler is a 501', async () => {
  const handlers = { ...answering('{}') };
  Reflect.deleteProperty(handlers, 'readThing');
  await using server = await serving({ handlers });

  const answer = await fetch(`${server.url}/things/a`);

  expect([answer.status, await answer.json()]).toEqual([
    501,
    { message: 'This operation is not implemented' },
  ]);
});

test('a handler of an operation that the document lacks is refused at the start', async () => {
  const row = { ...smallContract.table.readThing, id: 'unknown' };
  const contract = { ...smallContract, table: { ...smallContract.table, unknown: row } };
  const handlers = { ...answering('{}'), unknown: async () => ({}) };

  await expect(mount<SmallOperations>({ contract, handlers, validateResponses: true })).rejects.toThrow(
    'Unknown operationId unknown',
  );
});
