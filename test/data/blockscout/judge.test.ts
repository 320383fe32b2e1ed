import { expect, test } from 'vitest';
import { blockscoutReply } from '#data/backends/blockscout/reply-judge.ts';
import { serving } from './serving.ts';

const SPEC_ERROR = { title: 'Not found', source: { pointer: '/number' }, detail: 'no such block' };

test.each([
  { message: 'Not found' },
  { message: 'not found' },
  { message: 'Block lost consensus', hash: `0x${'a'.repeat(64)}` },
  { message: 'Address not found' },
  { errors: [SPEC_ERROR] },
])('a 404 of %j means that the record does not exist', body => {
  expect(blockscoutReply({ status: 404, body })).toMatchObject({ kind: 'not_found' });
});

test.each([
  { message: 'no Route matched with those values' },
  { message: 'Not found', source: 'internal' },
  { error: 'Network not supported', source: 'internal' },
  { statusCode: 404, message: 'Cannot GET /api/v2/blocks/7' },
  { statusCode: 404, message: 'Not Found' },
  { errors: { detail: 'Not Found' } },
  { errors: ['Not Found'] },
  { errors: [] },
  { errors: [SPEC_ERROR], source: 'internal' },
  { detail: 'Not Found' },
  {},
  [],
  null,
])('a 404 of %j is an outage of a proxy or gateway in between', body => {
  expect(blockscoutReply({ status: 404, body })).toMatchObject({ kind: 'unavailable' });
});

test('a gateway that does not know the instance is a 502, not an empty list', async () => {
  const json = { message: 'no Route matched with those values' };
  await using served = await serving(() => ({ status: 404, json }));

  expect((await served.get(`/addresses/0x${'1'.repeat(40)}/tokens`)).status).toBe(502);
});
