import { describe, expect, test } from 'vitest';
import type { Validity } from '../../src/data/backends/port/backend.ts';
import { encodeCursor } from '../../src/data/backends/port/cursor.ts';
import { backend, emptyPage, failure, hashOf, LIFETIMES } from './answer-support.ts';
import { final, type Page, setUp } from './cache-support.ts';

/** The default lifetimes. */
const MOVING = { ...LIFETIMES, movingMs: 15_000, meteredMs: 60_000 };
/** Waits for work that runs behind an answer. */
const settled = () => new Promise(resolve => setImmediate(resolve));

const moment = { revision: '1', epoch: '0' };
const NO_CACHE = { 'cache-control': 'no-cache' };

describe('lifetimes', () => {
  test('a final record is kept for a day, with its age and total lifetime in the headers', async () => {
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
    expect(second).toMatchObject({ 'X-Cache': 'HIT', Age: '60', 'Cache-Control': 'public, max-age=86400' });
    expect(third).toMatchObject({ 'X-Cache': 'MISS', Age: '0' });
    expect(state.loads).toBe(2);
  });

  test.each([
    ['with one confirmation too few', async () => ({ ...emptyPage(), confirmations: 11 })],
    ['that is declared as never final', async () => emptyPage()],
  ])('a record %s is kept for seconds, and never by the client', async (_name, answer) => {
    const { record, clock } = setUp({ answer });

    const first = await record();
    clock.advance(9_999);
    const second = await record();
    clock.advance(1);
    const third = await record();

    expect([first, second, third].map(one => one['X-Cache'])).toEqual(['MISS', 'HIT', 'MISS']);
    expect(second).toMatchObject({ 'Cache-Control': 'max-age=0, must-revalidate' });
  });

  test('a feed is fresh for the moving lifetime, then served stale for a minute while it is reloaded', async () => {
    const { feed, clock, state } = setUp({ lifetimes: MOVING });
    const inTheCache = 'public, max-age=15, stale-while-revalidate=60';

    await feed();
    clock.advance(14_999);
    const fresh = await feed();
    clock.advance(1);
    const { promise, resolve } = Promise.withResolvers<Page>();
    state.answer = () => promise;
    const stale = await Promise.all([feed(), feed(), feed()]);
    resolve(emptyPage());
    await settled();
    const renewed = await feed();

    expect(fresh).toMatchObject({ 'X-Cache': 'HIT', Age: '14', 'Cache-Control': inTheCache });
    for (const one of stale)
      expect(one).toMatchObject({ 'X-Cache': 'STALE', Age: '15', 'Cache-Control': inTheCache });
    expect(renewed).toMatchObject({ 'X-Cache': 'HIT', Age: '0' });
    expect(state.loads).toBe(2);
  });

  test('a feed that was not requested within that minute is reloaded before it is served', async () => {
    const { feed, clock } = setUp({ lifetimes: MOVING });

    await feed();
    clock.advance(75_000);

    expect(await feed()).toMatchObject({ 'X-Cache': 'MISS', Age: '0' });
  });

  test('a feed that cannot be reloaded behind its stale answer is served as during an outage', async () => {
    const { feed, clock, state } = setUp({ lifetimes: MOVING });
    await feed();
    state.answer = () => Promise.reject(failure('unavailable'));
    clock.advance(15_000);

    const first = await feed();
    await settled();
    const second = await feed();
    await settled();
    clock.advance(120_000);
    const later = await feed();

    expect([first, second, later].map(one => one['X-Cache'])).toEqual(['STALE', 'STALE', 'STALE']);
    expect(later).toMatchObject({ Age: '135', 'Cache-Control': 'max-age=0, must-revalidate' });
    expect(state.loads).toBe(4);
  });

  test('a feed from a metered back end is fresh for longer', async () => {
    const { feed, clock } = setUp({ lifetimes: MOVING, isMetered: true });

    await feed();
    clock.advance(59_999);

    expect(await feed()).toMatchObject({ 'X-Cache': 'HIT' });
  });

  test('a page behind a cursor is fresh for an hour', async () => {
    const { feed, clock } = setUp({ lifetimes: MOVING });
    const cursor = encodeCursor({ backend: 'first', chainId: 1, position: { block_number: 7, index: 1 } });

    await feed({}, { cursor });
    clock.advance(3_599_999);

    expect(await feed({}, { cursor })).toMatchObject({
      'X-Cache': 'HIT',
      'Cache-Control': 'public, max-age=3600, stale-while-revalidate=60',
    });
  });

  test('a feed from an index is kept until the next block, and one with pending items for seconds', async () => {
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

  test('a final record outlives new blocks and ends with a deep reorg', async () => {
    let now: Validity = moment;
    const { record } = setUp({ answer: final, validity: () => now });

    await record();
    now = { revision: '2', epoch: '0' };
    const afterBlock = await record();
    now = { revision: '3', epoch: '1' };
    const afterReorg = await record();

    expect([afterBlock['X-Cache'], afterReorg['X-Cache']]).toEqual(['HIT', 'MISS']);
  });

  test('an answer made while a new block arrived is not served as fresh', async () => {
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

  test('an operation’s own lifetime overrides the default', async () => {
    const lifetimes = { ...LIFETIMES, overrides: { listTransactionTokenTransfers: 5_000 } };
    const { record, clock } = setUp({ answer: final, lifetimes });

    const first = await record();
    clock.advance(5_000);

    expect(first).toMatchObject({ 'Cache-Control': 'public, max-age=5' });
    expect(await record()).toMatchObject({ 'X-Cache': 'MISS' });
  });

  test('a lifetime below a second is none for clients, because their caches count in seconds', async () => {
    const lifetimes = { ...LIFETIMES, overrides: { listTransactionTokenTransfers: 999 } };
    const { record, clock } = setUp({ answer: final, lifetimes });

    const first = await record();
    clock.advance(998);

    expect(first).toMatchObject({ 'Cache-Control': 'max-age=0, must-revalidate' });
    expect(await record()).toMatchObject({ 'X-Cache': 'HIT', 'Cache-Control': 'max-age=0, must-revalidate' });
  });

  test('an answer found after another chain’s outage is kept for at most 30 s', async () => {
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

  test('an answer found after another chain’s “not found” is kept for its full lifetime', async () => {
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

describe('a request', () => {
  test('gets the old answer during an outage, marked STALE, and a fresh one afterwards', async () => {
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

  test('for a record that is gone gets a 404 and not the old answer', async () => {
    const { record, state, clock } = setUp({ answer: final });

    await record();
    clock.advance(86_400_000);
    state.answer = () => Promise.reject(failure('not_found'));

    await expect(record()).rejects.toMatchObject({ status: 404 });
  });

  test('shares one load with fifty concurrent ones for the same thing', async () => {
    const { promise, resolve } = Promise.withResolvers<Page>();
    const { record, state } = setUp({ answer: () => promise });

    const asked = Array.from({ length: 50 }, () => record());
    await expect.poll(() => state.loads).toBe(1);
    resolve(await final());
    const answers = await Promise.all(asked);

    expect(state.loads).toBe(1);
    expect(new Set(answers.map(one => one['X-Cache']))).toEqual(new Set(['MISS']));
  });

  test('does not share a load that began before a new block', async () => {
    let now: Validity = moment;
    const { promise, resolve } = Promise.withResolvers<Page>();
    const { feed, state } = setUp({ answer: () => promise, validity: () => now });

    const before = feed();
    await expect.poll(() => state.loads).toBe(1);
    now = { revision: '2', epoch: '0' };
    const after = feed();
    await expect.poll(() => state.loads).toBe(2);
    resolve(emptyPage());

    expect([await before, await after]).toMatchObject([{ 'X-Cache': 'MISS' }, { 'X-Cache': 'MISS' }]);
  });

  test('may force a reload, but not within 10 s of the last one', async () => {
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

  test('cannot force more work from a back end that is out', async () => {
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

  test('gets an answer over the size bound, which is not kept', async () => {
    const { record, state } = setUp({ answer: final, maxBytes: 2_000 });

    const answers = [await record(), await record()];

    expect(answers.map(one => one['X-Cache'])).toEqual(['BYPASS', 'BYPASS']);
    expect(state.loads).toBe(2);
  });

  test('for the same thing in other words uses the same entry', async () => {
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

  test('for something else uses another entry', async () => {
    const { record, state } = setUp({ answer: final });

    await record();
    await record({ type: ['ERC-20'] });
    await record({ block_number: 1, index: 2 });
    await record({ block_number: 2, index: 1 });
    await record({}, hashOf('b'));

    expect(state.loads).toBe(5);
  });
});
