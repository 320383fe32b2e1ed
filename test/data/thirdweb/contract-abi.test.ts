import { expect, test } from 'vitest';
import { fixtureOf, fixturesOf, violationsOf } from './fixtures.ts';
import { about, always, failureOf, openedThirdweb } from './opened-thirdweb.ts';

const CONTRACT = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
const request = { path: { contract_address: CONTRACT }, query: {} };

test.each(fixturesOf('getContractAbi'))('the ABI of $name is a list, under any wrapper', async ({ name }) => {
  await using to = await openedThirdweb(always(fixtureOf('getContractAbi', name)));

  const abi = await to.insights.getContractAbi(request, about(1));

  expect(abi.map(entry => entry.name)).toEqual(['totalSupply', 'Transfer']);
  expect(await violationsOf('getContractAbi', abi)).toEqual([]);
});

test('of several chains the first with an ABI answers', async () => {
  await using to = await openedThirdweb(({ query }) =>
    query.get('chain_id') === '1' ? { status: 404, json: {} } : { json: [{ type: 'fallback' }] },
  );

  const abi = await to.insights.getContractAbi(request, about(1, 10, 56));

  expect(abi).toEqual([{ type: 'fallback' }]);
  expect(to.requests.map(({ path, query }) => [path, ...query.getAll('chain_id')])).toEqual([
    [`/contracts/abi/${CONTRACT}`, '1'],
    [`/contracts/abi/${CONTRACT}`, '10'],
  ]);
});

test.each<[string, unknown, string]>([
  ['an empty list', [], 'not_found'],
  ['an object that is not an ABI', { contract: CONTRACT }, 'unavailable'],
  ['a list of strings', ['function totalSupply()'], 'unavailable'],
  ['a string that is not JSON', { abi: 'function' }, 'unavailable'],
])('%s is not an ABI', async (_name, json, kind) => {
  await using to = await openedThirdweb(() => ({ json }));

  expect(await failureOf(to.insights.getContractAbi(request, about(1)))).toMatchObject({ kind });
});
