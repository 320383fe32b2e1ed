import { expect, test } from 'vitest';
import { record } from '../../lab/json.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { confirmed, EMPTY, HASH, type Instance, indexed, serve } from './settlement-support.ts';

const ADDRESS = `0x${'1'.repeat(40)}`;
const STATUS = '/main-page/indexing-status';

const filling: Instance = ({ path }) => {
  if (path === STATUS) return indexed(false, null);
  return path.startsWith('/addresses/') || path === '/blocks' ? EMPTY : undefined;
};
const complete: Instance = ({ path }) => {
  if (path === `/transactions/${HASH}`) return confirmed(105);
  if (path.startsWith('/addresses/')) return EMPTY;
  return path === STATUS ? indexed(true, '1.00') : undefined;
};

test('a record missing from an instance that is still indexing is looked up in the chain’s next back end', async () => {
  await using service = await serve([filling, complete]);

  const [transaction, tokens, missing] = await Promise.all([
    service.get(`/transactions/${HASH}`),
    service.get(`/addresses/${ADDRESS}/tokens`),
    service.get(`/transactions/0x${'9'.repeat(64)}`),
  ]);

  expect([transaction, tokens].map(({ headers }) => headers.get('x-backend'))).toEqual([
    'blockscout-1-2',
    'blockscout-1-2',
  ]);
  expect(missing.status).toBe(404);
});

test('“not found” from the only instance is not final while it is still indexing', async () => {
  await using service = await serve([filling]);

  const [missing, tokens] = [
    await service.get(`/transactions/${HASH}`),
    await service.get(`/addresses/${ADDRESS}/tokens`),
  ];

  expect([missing.status, tokens.status]).toEqual([501, 501]);
  expect(record(missing.body).message).toContain('it has not indexed all blocks yet');
  expect(service.asked.filter(path => path === STATUS)).toHaveLength(1);
});

test('an instance that is still indexing answers feeds', async () => {
  await using service = await serve([filling, complete]);

  const { status, headers } = await service.get('/blocks');

  expect([status, headers.get('x-backend')]).toEqual([200, 'blockscout-1']);
});

test('an instance is asked again after a minute whether its index is complete', async () => {
  const clock = manualClock();
  let isFilling = true;
  await using service = await serve(
    [request => (request.path === STATUS ? indexed(!isFilling, '1.00') : filling(request))],
    { clock },
  );
  const ask = async () => (await service.get(`/transactions/${HASH}`)).status;

  expect(await ask()).toBe(501);
  isFilling = false;
  clock.advance(59_999);
  expect(await ask()).toBe(501);
  clock.advance(1);
  expect(await ask()).toBe(404);
});

test.each<[string, Instance]>([
  ['has all blocks', complete],
  ['does not report its progress', () => undefined],
  [
    'reports an unreadable progress',
    ({ path }) => (path === STATUS ? { json: { finished_indexing: 1 } } : undefined),
  ],
  ['does not report its progress in time', ({ path }) => (path === STATUS ? 'silence' : undefined)],
])('“not found” is final where the instance %s', async (_name, instance) => {
  await using service = await serve([instance, complete]);

  const { status, headers } = await service.get(`/transactions/0x${'9'.repeat(64)}`);

  expect([status, headers.get('x-backend')]).toEqual([404, null]);
});
