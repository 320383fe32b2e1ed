import { afterAll, beforeAll, expect, test } from 'vitest';
import { GENERATIONS, type Generation, since } from '../lab/blockscout/generation.ts';
import { type BlockscoutEmulator, startBlockscoutEmulator } from '../lab/blockscout-emulator.ts';
import { itemOf, pageOf } from '../support/walk.ts';
import { type Ground, startGround } from './ground.ts';

let ground: Ground;
const emulators = new Map<Generation, BlockscoutEmulator>();

beforeAll(async () => {
  ground = await startGround();
  for (const generation of GENERATIONS) {
    const { indexUrl: serviceUrl, abis } = ground;
    emulators.set(generation, await startBlockscoutEmulator({ generation, serviceUrl, abis }));
  }
});
afterAll(async () => {
  for (const emulator of emulators.values()) await emulator[Symbol.asyncDispose]();
  await ground?.[Symbol.asyncDispose]();
});

async function get(generation: Generation, path: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${emulators.get(generation)?.url}${path}`);
  return { status: response.status, body: await response.json() };
}

async function page(generation: Generation, path: string) {
  const { status, body } = await get(generation, path);
  expect([path, status]).toEqual([path, 200]);
  return pageOf(body);
}

test.each(GENERATIONS)(
  '%s echoes an undeclared parameter before 9.3, and refuses it since',
  async generation => {
    const { status, body } = await get(generation, '/blocks?limit=7');

    if (since(generation, 'v9.3')) {
      const error = {
        title: 'Invalid value',
        source: { pointer: '/limit' },
        detail: 'Unexpected field: limit',
      };
      expect([status, body]).toEqual([422, { errors: [error] }]);
    } else expect(pageOf(body).next).toMatchObject({ limit: '7' });
  },
);

test.each(GENERATIONS)('%s starts over when one key of a position is missing', async generation => {
  const first = await page(generation, '/transactions');

  const again = await page(generation, `/transactions?block_number=${first.next?.block_number}`);
  const second = await page(
    generation,
    `/transactions?block_number=${first.next?.block_number}&index=${first.next?.index}`,
  );

  expect(again.items).toEqual(first.items);
  expect(second.items).not.toEqual(first.items);
});

test.each<[Generation, unknown]>([
  ['v5', 100],
  ['v8', 100],
  ['v9.3', 50],
  ['v11', 50],
  ['v12', undefined],
])('%s reports %s items for a second page', async (generation, count) => {
  const { next } = await page(generation, '/transactions');
  const { items_count: length = '' } = next ?? {};
  const query = `block_number=${next?.block_number}&index=${next?.index}${length === '' ? '' : `&items_count=${length}`}`;

  expect((await page(generation, `/transactions?${query}`)).next?.items_count).toBe(count);
});

test('v11 refuses the length of an older cursor, and v12 reads it as the requested size', async () => {
  expect((await get('v11', '/blocks?items_count=150')).status).toBe(422);
  expect((await page('v12', '/transactions?items_count=150')).items).toHaveLength(100);
});

test('a filter unknown to a generation is dropped before 9.3, and refused since', async () => {
  const path = `/transactions/${ground.places.batch}/token-transfers?type=ERC-404`;

  expect((await page('v8', path)).items).toHaveLength(50);
  expect((await get('v9.3', '/transactions?method=transfer')).status).toBe(422);
  expect((await get('v12', '/transactions?type=token_transfer')).status).toBe(422);
});

test('an unused address is a 404 up to 6.9, and has an empty list since', async () => {
  const path = `/addresses/${ground.places.nobody}/logs`;

  expect(await get('v6.9', path)).toEqual({ status: 404, body: { message: 'Not found' } });
  expect((await page('v8', path)).items).toEqual([]);
});

test('a search for nothing is plain text, and a path of a later generation an unknown action', async () => {
  expect(await get('v11', '/search')).toEqual({ status: 400, body: 'Bad request' });
  expect(await get('v5', '/token-transfers')).toEqual({
    status: 400,
    body: { message: 'Unknown API v2 action' },
  });
});

test('a transaction has the names of its generation, and both of them in 6.9', async () => {
  const names = async (generation: Generation) => {
    const { body } = await get(generation, `/transactions/${ground.places.batch}`);
    return Object.keys(itemOf(body)).filter(name =>
      /^(tx_types|transaction_types|block|block_number)$/.test(name),
    );
  };

  expect((await names('v5')).sort()).toEqual(['block', 'tx_types']);
  expect((await names('v6.9')).sort()).toEqual(['block', 'block_number', 'transaction_types', 'tx_types']);
  expect((await names('v8')).sort()).toEqual(['block_number', 'transaction_types']);
});
