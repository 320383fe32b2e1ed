import { describe, expect, test } from 'vitest';
import { failure } from './answer-support.ts';
import { final, setUp } from './cache-support.ts';
import { type Does, world } from './fallback-support.ts';

const DAY_MS = 86_400_000;

/** A world of one chain whose answer about a transaction has outlived its day. */
async function held(...others: readonly Does[]) {
  const made = world('has', ...others);
  await made.transfers();
  made.clock.advance(DAY_MS);
  made.asked();
  return made;
}

/** The same after a load that failed. */
async function heldWhileDown() {
  const made = await held();
  made.does[0] = 'out';
  await made.transfers();
  return made;
}

/** Lets what was started behind an answer come to its end. */
const settle = () => new Promise(resolve => setImmediate(resolve));

/** A page that breaks whoever makes JSON of it. */
const unreadable = () => ({
  items: [],
  get next_page_params(): null {
    throw new TypeError('not to be read');
  },
});

describe('a held answer past its life', () => {
  test('goes out with its true age when everything failed', async () => {
    const { does, transfers, clock } = await held();
    does[0] = 'out';
    clock.advance(1_500);

    expect(await transfers()).toMatchObject({
      'X-Cache': 'STALE',
      Age: '86401',
      'X-Chain-Id': '1',
      'Cache-Control': 'max-age=0, must-revalidate',
    });
  });

  test('is kept for 7 days past its life and not longer', async () => {
    const { does, transfers, clock } = await held();
    does[0] = 'out';

    clock.advance(7 * DAY_MS - 1);
    const last = await transfers();
    clock.advance(1);

    expect(last).toMatchObject({ 'X-Cache': 'STALE' });
    await expect(transfers()).rejects.toMatchObject({ status: 502 });
  });

  test.each<[Does, number]>([
    ['lacks', 404],
    ['cannot', 501],
  ])('does not hide what a chain that is there has to say: %s', async (says, status) => {
    const { does, transfers } = await held();
    does[0] = says;

    await expect(transfers()).rejects.toMatchObject({ status });
  });

  test('gives way to another chain that has the record', async () => {
    const { does, transfers } = await held('has');
    does[0] = 'out';

    expect(await transfers()).toMatchObject({ 'X-Cache': 'MISS', 'X-Chain-Id': '2' });
  });

  test('does not give way to the empty page of another chain while its own is out', async () => {
    const { does, withdrawals, clock } = world('has', 'empty');
    const first = await withdrawals();
    clock.advance(DAY_MS);
    does[0] = 'out';
    const during = await withdrawals();
    does[0] = 'empty';
    await withdrawals();
    await settle();
    const after = await withdrawals();

    expect(during).toMatchObject({ 'X-Cache': 'STALE', 'X-Chain-Id': '1', body: first.body });
    expect(after).toMatchObject({ 'X-Cache': 'HIT', body: '{"items":[],"next_page_params":null}' });
  });
});

describe('while everything is down', () => {
  test('requests within 30 s of a failed load get the held answer at once', async () => {
    const { does, transfers, clock } = await heldWhileDown();
    does[0] = 'thinks';
    clock.advance(29_999);

    expect(await transfers()).toMatchObject({ 'X-Cache': 'STALE' });
    expect(await transfers()).toMatchObject({ 'X-Cache': 'STALE' });
  });

  test('a request 30 s after the last failed load waits for a new one', async () => {
    const { does, transfers, clock } = await heldWhileDown();
    does[0] = 'has';
    clock.advance(30_000);

    expect(await transfers()).toMatchObject({ 'X-Cache': 'MISS', Age: '0' });
  });

  test('a refresh runs behind at most every 5 s, and its failure begins the 30 s anew', async () => {
    const { transfers, clock, asked } = await heldWhileDown();
    const loads: number[] = [];
    for (let second = 0; second < 60; second += 1) {
      asked();
      expect(await transfers()).toMatchObject({ 'X-Cache': 'STALE', Age: String(86_400 + second) });
      await settle();
      loads.push(asked().length);
      clock.advance(1_000);
    }

    expect(loads).toEqual(Array.from({ length: 60 }, (_, second) => (second % 5 === 0 ? 1 : 0)));
  });

  test('fifty requests at once make one refresh, and those behind a refresh that hangs make none', async () => {
    const { does, transfers, clock, asked } = await heldWhileDown();
    does[0] = 'thinks';
    asked();

    await Promise.all(Array.from({ length: 50 }, () => transfers()));
    clock.advance(60_000);
    const later = await transfers();

    expect(later).toMatchObject({ 'X-Cache': 'STALE' });
    expect(asked()).toEqual([1]);
  }, 2_000);

  test('a refresh that succeeds makes the next request a HIT', async () => {
    const { does, transfers, asked } = await heldWhileDown();
    does[0] = 'has';

    const stale = await transfers();
    await settle();
    asked();
    const healed = await transfers();

    expect(stale).toMatchObject({ 'X-Cache': 'STALE' });
    expect(healed).toMatchObject({ 'X-Cache': 'HIT', Age: '0' });
    expect(asked()).toEqual([]);
  });

  test('a refresh that hears the record is gone ends the held answer', async () => {
    const { does, transfers } = await heldWhileDown();
    does[0] = 'lacks';
    await transfers();
    await settle();

    await expect(transfers()).rejects.toMatchObject({ status: 404 });
  });

  test('a refresh that breaks in a way nobody foresaw is no unhandled rejection, and the next request hears of it', async () => {
    const { state, clock, record } = setUp({ answer: final });
    await record();
    clock.advance(DAY_MS);
    state.answer = () => Promise.reject(failure('unavailable'));
    await record();
    state.answer = async () => ({ body: unreadable() });
    const stale = await record();
    await settle();

    expect(stale).toMatchObject({ 'X-Cache': 'STALE' });
    await expect(record()).rejects.toThrow('not to be read');
  });

  test('one answer that cannot be made anew says nothing about others', async () => {
    const { does, logs } = await heldWhileDown();
    does[0] = 'has';

    expect(await logs()).toMatchObject({ 'X-Cache': 'MISS' });
  });

  test('without a held answer every request asks again', async () => {
    const { transfers, asked } = world('out');

    await expect(transfers()).rejects.toMatchObject({ status: 502 });
    await expect(transfers()).rejects.toMatchObject({ status: 502 });

    expect(asked()).toEqual([1, 1]);
  });
});

describe('closing', () => {
  test('ends a refresh that is under way', async () => {
    const { does, transfers, close } = await heldWhileDown();
    does[0] = 'thinks';
    await transfers();

    await expect(close()).resolves.toBeUndefined();
  }, 2_000);

  test('ends a load that somebody still waits for, and lets none begin', async () => {
    const { transfers, close, asked } = world('thinks', 'has');

    const waiting = transfers();
    const ended = expect(waiting).rejects.toMatchObject({ status: 504 });
    await expect.poll(() => asked()).toEqual([1]);
    await close();
    await ended;

    await expect(transfers()).rejects.toMatchObject({ status: 504 });
    expect(asked()).toEqual([]);
  }, 2_000);
});

describe('the bodies of 502 and 504', () => {
  test.each<[string, Does[], number, string]>([
    ['an outage', ['out'], 502, 'chain 1 (blockscout): it was unavailable'],
    [
      'timeouts only',
      ['slow', 'slow'],
      504,
      'chain 1 (blockscout): it was too slow; chain 2 (blockscout): it was too slow',
    ],
    [
      'both',
      ['slow', 'out'],
      502,
      'chain 1 (blockscout): it was too slow; chain 2 (blockscout): it was unavailable',
    ],
  ])(
    'name chain, kind of back end and reason of %s, and nothing else',
    async (_name, does, status, reasons) => {
      const made = world(...does);

      for (const failed of [made.transfers(), made.feed(), made.withdrawals()])
        await expect(failed).rejects.toMatchObject({
          status,
          message: `No back end could answer: ${reasons}`,
        });
    },
  );
});
