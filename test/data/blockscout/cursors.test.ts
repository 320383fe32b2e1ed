import { expect, test } from 'vitest';
import { decodeCursor } from '#data/backends/port/cursor.ts';
import { fieldsOf } from '#data/backends/upstream-json/fields.ts';
import { fixtureOf } from '../../lab/blockscout-fixtures.ts';
import type { SeenRequest } from '../../lab/scripted-upstream.ts';
import { MISSING, type Served, serving } from './serving.ts';

const BLOCK = fieldsOf(JSON.parse(fixtureOf('getBlock', 'v11').text));

/** Two pages of blocks: the next position of the first page is `params`. */
function blocks(params: (request: SeenRequest) => unknown) {
  let pages = 0;
  return (request: SeenRequest) => {
    if (request.path !== '/blocks') return MISSING;
    pages += 1;
    return { json: { items: [BLOCK], next_page_params: pages === 1 ? params(request) : null } };
  };
}

async function positionAfter(served: Served, path: string) {
  const { status, body } = await served.get(path);
  const cursor = String(fieldsOf(body.next_page_params).cursor);
  return { status, cursor, position: decodeCursor(cursor)?.position };
}

test('a key in the base address that upstream echoes is not put in the cursor, and the walk still continues', async () => {
  await using served = await serving(
    blocks(({ query }) => ({ block_number: 5, items_count: 50, ...Object.fromEntries(query) })),
    { base: '?access_token=SECRET-abcdef123456' },
  );

  const { cursor, position } = await positionAfter(served, '/blocks');
  const next = await served.get(`/blocks?cursor=${cursor}`);

  expect(position).toEqual({ '@list': 'listBlocks', block_number: 5 });
  expect(next).toMatchObject({ status: 200, body: { next_page_params: null } });
  const sent = served.requests.at(-1)?.query;
  expect(sent?.getAll('access_token')).toEqual(['SECRET-abcdef123456']);
  expect(sent?.get('block_number')).toBe('5');
});

test('a key that upstream echoes under another name is not put in the cursor', async () => {
  await using served = await serving(
    blocks(() => ({ block_number: 5, account: 'a-key-of-ours-123' })),
    {
      apiKey: 'a-key-of-ours-123',
    },
  );

  expect((await positionAfter(served, '/blocks')).position).toEqual({
    '@list': 'listBlocks',
    block_number: 5,
  });
});

test('a cursor that names a parameter of the base address is a 400, because it would be sent twice', async () => {
  await using served = await serving(
    blocks(() => ({ block_number: 5 })),
    { base: '?access_token=abc' },
  );
  const { cursor } = await positionAfter(served, '/blocks');
  const [backend, chainId, position] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  const forged = [backend, chainId, { ...position, access_token: 'other' }];

  const { status } = await served.get(
    `/blocks?cursor=${Buffer.from(JSON.stringify(forged)).toString('base64url')}`,
  );

  expect(status).toBe(400);
});

test('a position value that the contract does not allow does not lose the page', async () => {
  await using served = await serving(blocks(() => ({ block_number: -1, number: 'five' })));

  const { status, body } = await served.get('/blocks');

  expect(status).toBe(200);
  expect(body.next_page_params).toEqual({ chain_id: 1, cursor: expect.any(String), items_count: 1 });
});

test('a list inside a position is an outage: without it the walk would continue elsewhere', async () => {
  await using served = await serving(blocks(() => ({ block_number: 5, extra: [1, 2] })));

  expect((await served.get('/blocks')).status).toBe(502);
  expect(served.warnings()).toContainEqual(
    expect.objectContaining({ operation: 'listBlocks', path: 'next_page_params.extra' }),
  );
});

const search = (name: string) => (request: SeenRequest) => {
  const params = { next_page_params_type: 'token', q: 'a', token: { name, holder_count: 3 } };
  return { json: { items: [], next_page_params: request.query.size > 1 ? null : params } };
};

test('a position with a token name of 600 characters leads to the second page', async () => {
  await using served = await serving(search('x'.repeat(600)));

  const { cursor } = await positionAfter(served, '/search?q=a');
  const next = await served.get(`/search?q=a&cursor=${cursor}`);

  expect(next).toEqual({ status: 200, body: { items: [], next_page_params: null } });
  expect(served.requests.at(-1)?.query.get('token[name]')).toHaveLength(600);
});

test.each([
  ['in one value', 'x'.repeat(2049)],
  ['as a whole', '\u8336'.repeat(1100)],
])('a position that is too long %s ends the list, and the log says so', async (_where, name) => {
  await using served = await serving(search(name));

  expect(await served.get('/search?q=a')).toEqual({
    status: 200,
    body: { items: [], next_page_params: null },
  });
  expect(served.warnings()).toEqual([expect.objectContaining({ operation: 'search', chainId: 1 })]);
});
