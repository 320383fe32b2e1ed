import { expect, test } from 'vitest';
import { listOf } from '#data/backends/upstream-json/fields.ts';
import { fixtureOf } from '../../lab/blockscout-fixtures.ts';
import { serving } from './serving.ts';

test('a quick search finds the same as a search, in every generation', async () => {
  for (const name of ['v5', 'v6.9', 'v8', 'v11', 'v12']) {
    const page = JSON.parse(fixtureOf('search', name).text);
    const all = JSON.parse(fixtureOf('quickSearch', name).text);
    await using served = await serving(({ path }) => ({
      json: path.endsWith('/quick') ? all : { ...page, next_page_params: null },
    }));

    const quick = await served.get('/search/quick?q=tea');
    const search = await served.get('/search?q=tea');

    expect(listOf(quick.body.items).length, name).toBeGreaterThan(5);
    expect(quick.body.items, name).toEqual(search.body.items);
  }
});

test('of more than 50 results the first 50 are answered', async () => {
  const [result] = listOf(fixtureOf('quickSearch', 'v12').body);
  await using served = await serving(() => ({ json: Array.from({ length: 70 }, () => result) }));

  expect(listOf((await served.get('/search/quick?q=tea')).body.items)).toHaveLength(50);
});

test('below three bytes, where a quick search finds nothing, a search page is requested instead', async () => {
  const page = JSON.parse(fixtureOf('search', 'v12').text);
  await using served = await serving(() => ({ json: page }));

  const short = await served.get('/search/quick?q=12');
  const none = await served.get('/search/quick?q=');

  expect(listOf(short.body.items).length).toBeGreaterThan(5);
  expect(none.body.items).toEqual([]);
  expect(served.requests.map(({ path }) => path)).toEqual(['/search']);
});
