import { describe, expect, test } from 'vitest';
import type { Behaviour } from '../../lab/scripted-upstream.ts';
import { about, failureOf, openedThirdweb, queryFor } from './opened-thirdweb.ts';

const CONTRACT = '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d';
const abi = { path: { contract_address: CONTRACT }, query: {} };

async function failureWith(behaviour: Behaviour, wallet?: string) {
  await using to = await openedThirdweb(() => behaviour);
  const query = queryFor('transactions', wallet === undefined ? {} : { wallet });
  const { kind, reason, message } = await failureOf(to.insights.records(query, about(1)));
  return { kind, reason, message };
}

test.each<[string, Behaviour, object]>([
  [
    'a 400 is rejected with upstream’s message',
    { status: 400, json: { error: 'page must be <= 20' } },
    { kind: 'rejected', message: 'the back end refused the request: page must be <= 20' },
  ],
  [
    'a 400 of the Go service is, too',
    { status: 400, json: { code: 400, message: 'invalid sort_by field', support_id: 'a1b2c3' } },
    { kind: 'rejected', message: 'the back end refused the request: invalid sort_by field' },
  ],
  [
    'a 400 with a list of issues is, too',
    { status: 400, json: { error: { name: 'ZodError', issues: [{ path: ['limit'], message: 'too big' }] } } },
    { kind: 'rejected', message: 'the back end refused the request: limit: too big' },
  ],
  ['a 400 without a message is, too', { status: 400, json: {} }, { kind: 'rejected' }],
  [
    'a long message is truncated',
    { status: 400, json: { error: 'x'.repeat(5000) } },
    { kind: 'rejected', message: `the back end refused the request: ${'x'.repeat(200)}` },
  ],
  [
    'a name that upstream cannot resolve is unknown',
    { status: 400, json: { error: 'Could not resolve ENS name' } },
    { kind: 'not_found', reason: 'unknown_name' },
  ],
  ['a 404 of a query means a missing path', { status: 404, json: {} }, { kind: 'unsupported' }],
  ['a 410 is unsupported', { status: 410, json: {} }, { kind: 'unsupported' }],
  ['a 501 is unsupported', { status: 501, json: {} }, { kind: 'unsupported' }],
  [
    'a wrong client id is an outage',
    { status: 401, json: { error: 'Invalid client ID' } },
    { kind: 'unavailable' },
  ],
  ['402 is one', { status: 402, json: {} }, { kind: 'unavailable', reason: 'over_quota' }],
  ['403 is one', { status: 403, json: {} }, { kind: 'unavailable' }],
  ['429 is one', { status: 429, json: {} }, { kind: 'unavailable', reason: 'over_quota' }],
  [
    '500 is one, also for what it does not understand',
    { status: 500, json: { error: 'An unexpected error occurred.' } },
    { kind: 'unavailable', reason: 'unreadable' },
  ],
  ['200 with nothing but an error is one', { json: { error: 'timeout' } }, { kind: 'unavailable' }],
  ['200 with a number is one', { json: 7 }, { kind: 'unavailable' }],
])('%s', async (_name, behaviour, expected) => {
  expect(await failureWith(behaviour)).toMatchObject(expected);
});

test.each([
  [404, 'Chain 31337 not found'],
  [404, 'Chain 31337 is not served here'],
  [400, 'Unsupported chain: 31337'],
  [400, 'chain_id: must be one of the configured chains 1, 10'],
  [400, 'The chain 31337 is currently not supported'],
  [400, 'chain_id: Array must contain at most 5 element(s)'],
  [400, 'A maximum of 5 chains can be queried'],
])('%i with “%s” concerns the chain: unsupported', async (status, error) => {
  expect(await failureWith({ status, json: { error } })).toMatchObject({ kind: 'unsupported' });
});

test('a 404 of a query by name means an unknown name', async () => {
  const missing = { status: 404, json: { error: 'Not found' } };

  expect(await failureWith(missing, 'nobody.eth')).toMatchObject({
    kind: 'not_found',
    reason: 'unknown_name',
  });
  expect(await failureWith(missing, CONTRACT)).toMatchObject({ kind: 'unsupported' });
});

describe.each<[string, Behaviour]>([
  ['with a body', { status: 404, json: { error: 'Not found' } }],
  ['without a body, which no contract describes', { status: 404, text: '' }],
])('a 404 %s', (_name, behaviour) => {
  test('for an ABI or for transfers means an unknown contract', async () => {
    await using to = await openedThirdweb(() => behaviour);
    const request = {
      path: { contract_address: CONTRACT },
      query: { limit: 20, page: 0, metadata: 'false', include_owners: 'false' },
    } as const;

    const ofAbi = await failureOf(to.insights.getContractAbi(abi, about(1)));
    const ofTransfers = await failureOf(to.insights.listNftTransfers(request, about(1)));

    expect([ofAbi, ofTransfers]).toMatchObject([
      { kind: 'not_found', reason: 'no_such_record' },
      { kind: 'not_found', reason: 'no_such_record' },
    ]);
  });
});

test('the back end is ready until its quota is used up', async () => {
  await using to = await openedThirdweb(() => ({ status: 429, json: {} }));

  const before = to.backend.status().ready;
  await failureOf(to.insights.records(queryFor('blocks'), about(1)));

  expect([before, to.backend.status().ready]).toEqual([true, false]);
});
