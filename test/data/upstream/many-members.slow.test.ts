import { expect, test, vi } from 'vitest';
import { list, record } from '../../lab/json.ts';
import { type Opened, opened } from './opened.ts';

const TEXTS = {
  '/keys': () => `{${Array.from({ length: 200_000 }, (_, index) => `"k${index}":${index}`).join(',')}}`,
  '/items': () => `{"items":[${Array(200_000).fill('{}').join(',')}]}`,
  '/integers': () => `[${Array(100_000).fill('12345678901234567890').join(',')}]`,
  '/text': () => `{"text":"${',12345678901234567890'.repeat(200_000)}"}`,
};

test.for([
  ['keys', '/keys', (body: unknown) => Object.keys(record(body)).length, 200_000],
  ['items', '/items', (body: unknown) => list(record(body).items).length, 200_000],
  ['long integers', '/integers', (body: unknown) => new Set(list(body)).size, 1],
  ['digits in a text', '/text', (body: unknown) => String(record(body).text).length, 4_200_000],
] as const)('an answer with many %s is never parsed by the main thread', async ([, path, measure, size]) => {
  const whole = TEXTS[path]();
  await using to = await answering(whole);
  using parse = vi.spyOn(JSON, 'parse');

  const { body } = await to.get();

  expect(measure(body)).toBe(size);
  // Other work of this process may parse texts of its own, which are short.
  expect(parse.mock.calls.filter(([text]) => String(text).length > whole.length / 2)).toEqual([]);
});

test('an answer with more than 250,000 keys and items is refused by their number', async () => {
  const at = (count: number) => `[${Array(count).fill('0').join(',')}]`;
  await using most = await answering(at(250_000));
  await using tooMany = await answering(at(250_001));

  expect(list((await most.get()).body)).toHaveLength(250_000);
  expect(await tooMany.failure()).toMatchObject({
    kind: 'unavailable',
    reason: 'unreadable',
    message: 'its answer has too many keys and items',
  });
});

test('an answer that is parsed in a thread has the same values as one that is not', async () => {
  const texts = (count: number) => {
    const item = '{"id":123456789012345678901,"__proto__":{"a":1.5e3},"text":"12345678901234567890,\\u00e9"}';
    return `[${Array(count).fill(item).join(',')}]`;
  };
  await using few = await answering(texts(1));
  await using many = await answering(texts(20_000));

  const [one] = list((await few.get()).body);
  const all = list((await many.get()).body);

  expect(all).toHaveLength(20_000);
  expect([all[0], all[10_000], all[19_999]]).toEqual([one, one, one]);
  expect(record(one).id).toBe(123456789012345678901n);
});

test('a large answer that is no JSON is refused like a small one', async () => {
  await using to = await answering(`[${'0,'.repeat(20_000)}`);

  expect(await to.failure()).toMatchObject({ message: 'its answer was not JSON' });
});

test('many large answers at once are all read', async () => {
  await using to = await answering(TEXTS['/items']());

  const bodies = await Promise.all(Array.from({ length: 5 }, () => to.get()));

  expect(bodies.map(({ body }) => list(record(body).items).length)).toEqual(Array(5).fill(200_000));
});

function answering(text: string): Promise<Opened> {
  const bytes = Buffer.from(text);
  return opened(() => ({ bytes }));
}
