import { describe, expect, test } from 'vitest';
import type { Validity } from '../../src/data/port/backend.ts';
import { backend, emptyPage, failure, hashOf, LIFETIMES } from './answer-support.ts';
import { final, type Page, setUp } from './cache-support.ts';

const moment = { revision: '1', epoch: '0' };
const NO_CACHE = { 'cache-control': 'no-cache' };

describe('lifetimes', () => {
  test('a final record is kept for a day, and says how old it is and how long it lives', async () => {
    const { record, clock, state } = setUp({ answer: final });

    const first = await record();
    clock.advance(60_500);
    const second = await record();
    clock.advance(86_400_000 - 60_500);
    const third = await record();

    expect(first).toMatchObject({
      'X-Cache': 'MISS',
      Age: '0',
      'Cache-Control': 'public, max-age=86400',
      'X-Chain-Id': '1',
      'X-Backend': 'first',
    });
    expect(second).toMatchObject({ 'X-Cache': 'HIT', Age: '60', 'Cache-Control': 'public, max-age=86339' });
    expect(third).toMatchObject({ 'X-Cache': 'MISS', Age: '0' });
    expect(state.loads).toBe(2);
  });

  test.each([
    ['with a confirmation too few', async () => ({ ...emptyPage(), confirmations: 11 })],
    ['that says of itself that it cannot settle', async () => emptyPage()],
  ])('a record %s is kept for seconds and never by the client', async (_name, answer) => {
    const { record, clock } = setUp({ answer });

    const first = await record();
    clock.advance(9_999);
    const second = await record();
    clock.advance(1);
    const third = await record();

    expect([first, second, third].map(one => one['X-Cache'])).toEqual(['MISS', 'HIT', 'MISS']);
    expect(second).toMatchObject({ 'Cache-Control': 'max-age=0, must-revalidate' });
  });

  test('a feed from a back end that does not see blocks is kept for the moving lifetime', async () => {
    const { feed, clock } = setUp();

    await feed();
    clock.advance(3_599_999);
    const before = await feed();
    clock.advance(1);
    const after = await feed();

    expect(before).toMatchObject({ 'X-Cache': 'HIT', 'Cache-Control': 'max-age=0, must-revalidate' });
    expect(after).toMatchObject({ 'X-Cache': 'MISS' });
  });

  test('a feed from an index lives until the next block, and what waits in the pool for seconds', async () => {
    let now: Validity = moment;
    const index = setUp({ validity: () => now });
    const pool = setUp({
      validity: () => now,
      answer: async () => ({ ...emptyPage(), unsettled: true as const }),
    });

    await Promise.all([index.feed(), pool.feed()]);
    for (const { clock } of [index, pool]) clock.advance(10_000);
    const later = [await index.feed(), await pool.feed()];
    now = { revision: '2', epoch: '0' };
    const moved = [await index.feed(), await pool.feed()];

    expect(later.map(one => one['X-Cache'])).toEqual(['HIT', 'MISS']);
    expect(moved.map(one => one['X-Cache'])).toEqual(['MISS', 'MISS']);
  });

  test('a final record outlives blocks and dies with a deep reorg', async () => {
    let now: Validity = moment;
    const { record } = setUp({ answer: final, validity: () => now });

    await record();
    now = { revision: '2', epoch: '0' };
    const afterBlock = await record();
    now = { revision: '3', epoch: '1' };
    const afterReorg = await record();

    expect([afterBlock['X-Cache'], afterReorg['X-Cache']]).toEqual(['HIT', 'MISS']);
  });

  test('an answer that a block overtook while it was made is not taken for a fresh one', async () => {
    let now: Validity = moment;
    const { feed } = setUp({
      validity: () => now,
      answer: async () => {
        now = { revision: '2', epoch: '0' };
        return emptyPage();
      },
    });

    await feed();

    expect(await feed()).toMatchObject({ 'X-Cache': 'MISS' });
  });

  test('an operation’s own lifetime stands in for the usual one', async () => {
    const lifetimes = { ...LIFETIMES, overrides: { listTransactionTokenTransfers: 5_000 } };
    const { record, clock } = setUp({ answer: final, lifetimes });

    const first = await record();
    clock.advance(5_000);

    expect(first).toMatchObject({ 'Cache-Control': 'public, max-age=5' });
    expect(await record()).toMatchObject({ 'X-Cache': 'MISS' });
  });

  test('what was reached past an outage is kept for 30 s at most', async () => {
    const second = backend({ name: 'second', chainId: 2, answers: { listTransactionTokenTransfers: final } });
    const { record, state, clock } = setUp({
      answer: () => Promise.reject(failure('unavailable')),
      more: [second],
    });

    const around = await record();
    state.answer = final;
    clock.advance(30_000);
    const back = await record();

    expect(around).toMatchObject({ 'X-Backend': 'second', 'Cache-Control': 'public, max-age=30' });
    expect(back).toMatchObject({ 'X-Backend': 'first', 'Cache-Control': 'public, max-age=86400' });
  });

  test('what was reached past a chain that does not have it is kept its full time', async () => {
    const second = backend({ name: 'second', chainId: 2, answers: { listTransactionTokenTransfers: final } });
    const { record } = setUp({ answer: () => Promise.reject(failure('not_found')), more: [second] });

    expect(await record()).toMatchObject({
      'X-Backend': 'second',
      'Cache-Control': 'public, max-age=86400',
    });
  });

  test.each(['unavailable', 'unsupported', 'not_found', 'rejected'] as const)(
    'a failure of kind %s is never kept',
    async kind => {
      const { record, state } = setUp({ answer: () => Promise.reject(failure(kind)) });

      await expect(record()).rejects.toThrow('it was');
      state.answer = final;

      expect(await record()).toMatchObject({ 'X-Cache': 'MISS' });
    },
  );
});

describe('the way of a request', () => {
  test('an outage after the lifetime gives the old answer, marked STALE, and heals by itself', async () => {
    const { record, state, clock } = setUp({ answer: final });

    await record();
    clock.advance(86_400_000);
    state.answer = () => Promise.reject(failure('unavailable'));
    const stale = await record();
    state.answer = final;
    clock.advance(30_000);
    const healed = await record();

    expect(stale).toMatchObject({
      'X-Cache': 'STALE',
      Age: '86400',
      'Cache-Control': 'max-age=0, must-revalidate',
    });
    expect(healed).toMatchObject({ 'X-Cache': 'MISS' });
  });

  test('a record that is gone is a 404 and not its old answer', async () => {
    const { record, state, clock } = setUp({ answer: final });

    await record();
    clock.advance(86_400_000);
    state.answer = () => Promise.reject(failure('not_found'));

    await expect(record()).rejects.toMatchObject({ status: 404 });
  });

  test('fifty requests at once for the same thing are one load', async () => {
    const { promise, resolve } = Promise.withResolvers<Page>();
    const { record, state } = setUp({ answer: () => promise });

    const asked = Array.from({ length: 50 }, () => record());
    await expect.poll(() => state.loads).toBe(1);
    resolve(await final());
    const answers = await Promise.all(asked);

    expect(state.loads).toBe(1);
    expect(new Set(answers.map(one => one['X-Cache']))).toEqual(new Set(['MISS']));
  });

  test('a client may have an answer made again, but not within 10 s of the last time', async () => {
    const { record, state, clock } = setUp({ answer: final });
    const again = () => record({}, hashOf('a'), NO_CACHE);

    await record();
    clock.advance(9_999);
    const early = await again();
    clock.advance(1);
    const due = await again();
    const twice = await again();

    expect([early, due, twice].map(one => one['X-Cache'])).toEqual(['HIT', 'BYPASS', 'HIT']);
    expect(state.loads).toBe(2);
  });

  test('a back end that is out cannot be made to work by asking for new answers', async () => {
    const { record, state, clock } = setUp({ answer: final });
    const again = () => record({}, hashOf('a'), NO_CACHE);

    await record();
    clock.advance(10_000);
    state.answer = () => Promise.reject(failure('unavailable'));
    const first = await again();
    const second = await again();

    expect([first['X-Cache'], second['X-Cache']]).toEqual(['STALE', 'HIT']);
    expect(state.loads).toBe(2);
  });

  test('an answer over the size bound is sent and not kept', async () => {
    const { record, state } = setUp({ answer: final, maxBytes: 2_000 });

    const answers = [await record(), await record()];

    expect(answers.map(one => one['X-Cache'])).toEqual(['BYPASS', 'BYPASS']);
    expect(state.loads).toBe(2);
  });

  test('requests for the same thing in other words are one entry', async () => {
    const { record, state } = setUp({ answer: final });
    const upper = `0x${'A'.repeat(64)}`;

    await record({ type: ['ERC-20', 'ERC-721'] });
    const answers = [
      await record({ type: ['ERC-721', 'ERC-20'] }),
      await record({ type: ['ERC-20', 'ERC-721', 'ERC-20'] }, upper),
      await record({ type: ['ERC-20', 'ERC-721'], chain_id: 1 }),
    ];

    expect(answers.map(one => one['X-Cache'])).toEqual(['HIT', 'HIT', 'HIT']);
    expect(state.loads).toBe(1);
  });

  test('requests for different things are different entries', async () => {
    const { record, state } = setUp({ answer: final });

    await record();
    await record({ type: ['ERC-20'] });
    await record({ block_number: 1, index: 2 });
    await record({ block_number: 2, index: 1 });
    await record({}, hashOf('b'));

    expect(state.loads).toBe(5);
  });
});
