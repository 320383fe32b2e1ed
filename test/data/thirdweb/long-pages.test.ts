import { describe, expect, test } from 'vitest';
import { recordValues } from '#data/backends/port/insights-backend.ts';
import { record } from '../../lab/json.ts';
import type { Behaviour, SeenRequest } from '../../lab/scripted-upstream.ts';
import { fixtureOf } from './fixtures.ts';
import { about, failureOf, openedThirdweb, queryFor } from './opened-thirdweb.ts';

const ROWS = 1300;
const LONGEST = 500;

/** An upstream of two chains with 1,300 blocks each, and pages of at most 500 rows. */
function respond({ query }: SeenRequest): Behaviour {
  if (query.has('aggregate')) {
    const counted = query.getAll('chain_id').map(id => ({ chain_id: id, n: ROWS }));
    return { json: { aggregations: counted } };
  }
  const limit = Number(query.get('limit'));
  if (limit > LONGEST)
    return { status: 400, json: { error: 'limit: Number must be less than or equal to 500' } };
  const from = limit * Number(query.get('page'));
  const template = aBlock();
  const data = query.getAll('chain_id').flatMap(id =>
    Array.from({ length: Math.max(0, Math.min(limit, ROWS - from)) }, (_, at) => ({
      ...template,
      chain_id: Number(id),
      block_number: from + at,
    })),
  );
  return {
    json: { data, meta: { chain_ids: query.getAll('chain_id').map(Number), total_items: data.length } },
  };
}

function aBlock(): Record<string, unknown> {
  const { data } = record(JSON.parse(fixtureOf('queryBlocks', '2025-10').text));
  return record(Array.isArray(data) ? data[0] : undefined);
}

describe('a page longer than an older upstream’s', () => {
  test.each([
    [600, 0],
    [600, 1],
    [600, 2],
    [1000, 1],
  ])('of %i rows, number %i, is composed of shorter ones', async (limit, page) => {
    await using to = await openedThirdweb(respond);

    const { records, total, isCapped } = await to.insights.records(
      queryFor('blocks', { limit, page }),
      about(1, 10),
    );

    const length = Math.min(limit, ROWS - limit * page);
    const numbers = Array.from({ length }, (_, at) => limit * page + at);
    for (const id of [1, 10]) {
      const own = recordValues(records).filter(block => block.chain_id === id);
      expect(own.map(block => block.block_number)).toEqual(numbers);
    }
    expect({ total, isCapped }).toEqual({ total: 2 * ROWS, isCapped: false });
  });

  test('that lies too far back is unsupported, so that other back ends are asked', async () => {
    await using to = await openedThirdweb(respond);

    const failure = await failureOf(
      to.insights.records(queryFor('blocks', { limit: 1000, page: 15 }), about(1)),
    );

    expect(failure.kind).toBe('unsupported');
  });
});
