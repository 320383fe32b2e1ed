import { expect, test } from 'vitest';
import { record } from '../../lab/json.ts';
import { fixtureOf } from './fixtures.ts';
import { about, failureOf, openedThirdweb } from './opened-thirdweb.ts';

const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
const HASH = `0x${'4a'.repeat(32)}`;
const unknown = { json: { data: { type: 'unknown' } } };
const rowsOf = (operation: string) => record(JSON.parse(fixtureOf(operation, '2025-10').text)).data;

test.each([
  [{ kind: 'number', number: 2n ** 64n }, `/resolve/${2n ** 64n}`],
  [{ kind: 'hash', hash: HASH }, `/resolve/${HASH}`],
  [{ kind: 'selector', selector: '0xa9059cbb' }, '/resolve/0xa9059cbb'],
  [{ kind: 'address', address: 'vitalik.eth' }, '/resolve/vitalik.eth'],
] as const)('a text of the form %o is sent unchanged', async (input, path) => {
  await using to = await openedThirdweb(() => unknown);

  expect(await to.insights.resolveInput(input, about(1, 8453))).toEqual({ type: 'unknown' });
  expect(to.requests.map(request => [request.path, request.query.getAll('chain_id')])).toEqual([
    [path, ['1', '8453']],
  ]);
});

test('a signature is sent as its topic, then as its selector', async () => {
  const transactions = rowsOf('queryTransactions');
  await using to = await openedThirdweb(({ path }) =>
    path.endsWith(HASH) ? unknown : { json: { data: { type: 'function_signature', transactions } } },
  );

  const found = await to.insights.resolveInput(
    { kind: 'signature', topic0: HASH, selector: '0x4a4a4a4a' },
    about(1),
  );

  expect(found).toMatchObject({ type: 'function_signature', transactions: [{ chain_id: '1', nonce: 41n }] });
  expect(to.requests.map(({ path }) => path)).toEqual([`/resolve/${HASH}`, '/resolve/0x4a4a4a4a']);
});

test.each([
  ['block', 'blocks', 'queryBlocks'],
  ['transaction', 'transactions', 'queryTransactions'],
  ['event_signature', 'events', 'queryEvents'],
] as const)('a %s has its own records only', async (type, list, operation) => {
  const data = { type, blocks: [], transactions: [], events: [], address: '', [list]: rowsOf(operation) };
  await using to = await openedThirdweb(() => ({ json: { data } }));

  const found = await to.insights.resolveInput({ kind: 'hash', hash: HASH }, about(1));

  expect(found).toEqual({ type, [list]: [expect.objectContaining({ block_number: 22431084 })] });
});

test('a contract has its address, even where upstream repeats a name', async () => {
  await using to = await openedThirdweb(({ path }) => ({
    json: { data: { type: 'contract', address: path.endsWith('eth') ? 'usdc.eth' : undefined } },
  }));

  const byAddress = await to.insights.resolveInput({ kind: 'address', address: USDC }, about(1));
  const byName = await to.insights.resolveInput({ kind: 'address', address: 'usdc.eth' }, about(1));

  expect(byAddress).toEqual({ type: 'contract', address: USDC, transactions: [] });
  expect(byName).toEqual({ type: 'contract', transactions: [] });
});

test('a name that upstream cannot resolve is unknown', async () => {
  await using to = await openedThirdweb(() => ({
    status: 404,
    json: { error: 'ENS name could not be resolved' },
  }));

  const found = await to.insights.resolveInput({ kind: 'address', address: 'nobody.eth' }, about(1));

  expect(found).toEqual({ type: 'unknown' });
});

test('a type without a record is unknown, and rows of other chains are left out', async () => {
  const data = { type: 'transaction', transactions: rowsOf('queryTransactions') };
  await using to = await openedThirdweb(() => ({ json: { data } }));

  expect(await to.insights.resolveInput({ kind: 'hash', hash: HASH }, about(10))).toEqual({
    type: 'unknown',
  });
});

test('a service without this path is skipped, and an answer of another type is unreadable', async () => {
  await using without = await openedThirdweb(() => ({ status: 404, text: '' }));
  await using other = await openedThirdweb(() => ({ json: { data: { type: 'token' } } }));
  const input = { kind: 'hash', hash: HASH } as const;

  const [missing, unreadable] = await Promise.all(
    [without, other].map(to => failureOf(to.insights.resolveInput(input, about(1)))),
  );

  expect(missing).toMatchObject({ kind: 'unsupported' });
  expect(unreadable).toMatchObject({ kind: 'unavailable', reason: 'unreadable' });
  expect(other.lines()).toMatchObject([{ operation: 'resolveInput', path: 'data.type' }]);
});
