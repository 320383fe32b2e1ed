import { expect, test, vi } from 'vitest';

// The module of the pages' API client reads it.
vi.stubGlobal('location', new URL('http://127.0.0.1/'));
const { troublesOf } = await import('#data/pages/browser/state-notices.ts');

const index = {
  name: 'index-1',
  kind: 'index',
  ready: true,
  head: 60,
  lag: 0 as number | null,
  stalled: false,
  incomplete_blocks: 0,
  capabilities: [],
};
const remote = { ...index, name: 'scout', kind: 'blockscout', lag: null };

test.each([
  ['is ready', index, []],
  [
    'is behind',
    { ...index, ready: false, lag: 40 },
    ['One: index-1 is 40 blocks behind, and has all blocks up to 60.'],
  ],
  ['waits', { ...index, ready: false, head: null }, ['One: index-1 waits for its first block.']],
  [
    'has a silent node',
    { ...index, ready: false, lag: null },
    ['One: index-1 cannot reach its node, and has all blocks up to 60.'],
  ],
  [
    'stands still',
    { ...index, lag: 3, stalled: true },
    ['One: index-1 stands still, 3 blocks behind, and has all blocks up to 60.'],
  ],
])('a page says of an index that %s: %#', (_, backend, words) => {
  expect(troublesOf({ name: 'One', backends: [backend] })).toEqual(words);
});

test('a page says that another back end answers for one that is down', () => {
  const down = { ...remote, ready: false };

  expect(troublesOf({ name: 'One', backends: [index, down] })).toEqual([
    'One: scout does not answer. Another back end answers instead.',
  ]);
  expect(troublesOf({ name: 'One', backends: [down] })).toEqual(['One: scout does not answer.']);
});
