import { expect, test } from 'vitest';
import { ANSWERED_OPERATIONS } from '../../lab/answered-operations.ts';
import { fixturesOf } from '../../lab/blockscout-fixtures.ts';
import { MISSING, serving } from './serving.ts';

/** Bodies with one number replaced by -1, also where it is a string; of a list only the first item. */
function* withNegatives(value: unknown): Generator<unknown> {
  if (typeof value === 'number' || (typeof value === 'string' && /^\d{1,30}$/.test(value))) {
    yield typeof value === 'number' ? -1 : '-1';
  } else if (Array.isArray(value)) {
    for (const first of withNegatives(value[0])) yield [first, ...value.slice(1)];
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value))
      for (const changed of withNegatives(inner)) yield { ...value, [name]: changed };
  }
}

test.each(ANSWERED_OPERATIONS.map(({ id }) => id))(
  'a negative number from upstream in %s never becomes an answer that breaks the contract',
  async operation => {
    const newest = fixturesOf(operation).at(-1);
    const path = newest?.path.split('?')[0];
    const bodies = [...withNegatives(JSON.parse(newest?.text ?? ''))];
    let json: unknown;
    await using served = await serving(request => (request.path === path ? { json } : MISSING));

    const statuses: number[] = [];
    for (json of bodies) {
      const { status } = await served.get(newest?.path ?? '', { 'cache-control': 'no-cache' });
      statuses.push(status);
    }

    // A 200 that breaks the contract is a 500 here, and so is an unexpected error.
    expect(statuses.filter(status => status !== 200 && status !== 502)).toEqual([]);
  },
);
