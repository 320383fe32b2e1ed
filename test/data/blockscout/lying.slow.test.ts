import { expect, test } from 'vitest';
import { ANSWERED_OPERATIONS } from '../../lab/answered-operations.ts';
import { fixturesOf } from '../../lab/blockscout-fixtures.ts';
import { damaged, FIRST_LIES } from '../../support/lies.ts';
import { MISSING, serving } from './serving.ts';

test.each(ANSWERED_OPERATIONS.map(({ id }) => id))(
  'whatever one field of %s is replaced by, the answer fits the contract or is an outage',
  async operation => {
    const newest = fixturesOf(operation).at(-1);
    const path = newest?.path.split('?')[0];
    const bodies = FIRST_LIES.flatMap(first => damaged(newest?.text ?? '', first));
    let body = '';
    await using served = await serving(request =>
      request.path === path ? { text: body, type: 'application/json' } : MISSING,
    );

    const statuses = new Set<number>();
    for (body of bodies) {
      const { status } = await served.get(newest?.path ?? '', { 'cache-control': 'no-cache' });
      statuses.add(status);
    }

    // A 200 that breaks the contract is a 500 here, and so is an unexpected error.
    expect([...statuses].filter(status => ![200, 404, 502].includes(status))).toEqual([]);
  },
);
