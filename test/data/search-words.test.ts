import { expect } from 'vitest';
import { list, record } from '../lab/json.ts';
import { test } from '../support/served-devnet.ts';

test.beforeAll(async ({ api }) => void (await api.get('/chains')));

test.for(['us dollar sample', 'Dollar', 'dollar sam', 'SAMPLE'])(
  'a token is found by the start of a word of its name: %s',
  async (q, { api }) => {
    const query = `q=${encodeURIComponent(q)}`;
    const { body: quick } = await api.get(`/explorer/search/quick?${query}`);
    const { body: page } = await api.get(`/explorer/search?${query}`);
    const { body: tokens } = await api.get(`/explorer/tokens?${query}`);

    for (const found of [quick, record(page).items, record(tokens).items]) {
      expect(list(found).map(item => record(item).name)).toContain('US Dollar Sample');
    }
  },
);

test('a part inside of a word finds nothing', async ({ api }) => {
  const { body } = await api.get('/explorer/search/quick?q=ollar');

  expect(body).toEqual([]);
});
