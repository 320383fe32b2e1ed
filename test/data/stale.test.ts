import { describe, expect, test } from 'vitest';
import { createLogger } from '../../src/lib/logger.ts';
import { emptyPage, failure } from './answer-support.ts';
import { final, setUp } from './cache-support.ts';
import { type Does, world } from './fallback-support.ts';

const DAY_MS = 86_400_000;

/** One chain whose answer about a transaction has expired after its day. */
async function held(...others: readonly Does[]) {
  const made = world('has', ...others);
  await made.transfers();
  made.clock.advance(DAY_MS);
  made.asked();
  return made;
}

/** Same after a failed load. */
async function heldWhileDown() {
  const made = await held();
  made.does[0] = 'out';
  await made.transfers();
  return made;
}

/** Waits for work that runs behind an answer. */
const settle = () => new Promise(resolve => setImmediate(resolve));

/** A page that throws when it is serialised to JSON. */
const unreadable = () => ({
  items: [],
  get next_page_params(): null {
    throw new TypeError('not to be read');
  },
});

describe('an expired answer', () => {
  test('is served with its true age when every back end failed', async () => {
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

  test('is kept for exactly 7 days after it expires', async () => {
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
  ])('does not hide the answer of an available chain: %s', async (says, status) => {
    const { does, transfers } = await held();
    does[0] = says;

    await expect(transfers()).rejects.toMatchObject({ status });
  });

  test('is replaced by another chain’s record', async () => {
    const { does, transfers } = await held('has');
    does[0] = 'out';

    expect(await transfers()).toMatchObject({ 'X-Cache': 'MISS', 'X-Chain-Id': '2' });
  });

  test('is not replaced by another chain’s empty page while its own is out', async () => {
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

describe('during a full outage', () => {
  test('requests within 30 s of a failed load get the expired answer at once', async () => {
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

  test('a background refresh runs at most every 5 s, and its failure restarts the 30 s', async () => {
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

  test('a background refresh runs as soon as the failed back end allows', async () => {
    const { does, transfers, clock } = await held();
    does[0] = 'behind';
    await transfers();
    await transfers(); // begins a refresh, which fails too
    await settle();
    does[0] = 'has';
    clock.advance(999);
    await transfers();
    await settle();

    expect(await transfers()).toMatchObject({ 'X-Cache': 'STALE' });
    clock.advance(1);
    await transfers();
    await settle();
    expect(await transfers()).toMatchObject({ 'X-Cache': 'HIT' });
  });

  test('fifty requests at once share one refresh, and start no other while it hangs', async () => {
    const { does, transfers, clock, asked } = await heldWhileDown();
    does[0] = 'thinks';
    asked();

    await Promise.all(Array.from({ length: 50 }, () => transfers()));
    clock.advance(60_000);
    const later = await transfers();

    expect(later).toMatchObject({ 'X-Cache': 'STALE' });
    expect(asked()).toEqual([1]);
  });

  test('a successful refresh makes the next request a HIT', async () => {
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

  test('a successful refresh ends the outage: the next expired answer is not sent', async () => {
    const { state, clock, record } = setUp();
    await record();
    clock.advance(10_000);
    state.answer = () => Promise.reject(failure('unavailable'));
    await record();
    state.answer = async () => emptyPage();
    await record();
    await settle();
    const healed = await record();
    clock.advance(10_000);

    expect(healed).toMatchObject({ 'X-Cache': 'HIT' });
    expect(await record()).toMatchObject({ 'X-Cache': 'MISS' });
  });

  test('a refresh that hangs is the only one, also after new blocks', async () => {
    let revision = 1;
    const { state, clock, record } = setUp({ validity: () => ({ revision: String(revision), epoch: '0' }) });
    await record();
    revision += 1;
    state.answer = () => Promise.reject(failure('unavailable'));
    await record();
    state.answer = () => new Promise(() => {});
    await record();
    const before = state.loads;
    revision += 1;
    clock.advance(5_000);

    expect(await record()).toMatchObject({ 'X-Cache': 'STALE' });
    await settle();
    expect(state.loads).toBe(before);
  });

  test('a refresh that finds the record gone deletes the expired answer', async () => {
    const { does, transfers } = await heldWhileDown();
    does[0] = 'lacks';
    await transfers();
    await settle();

    await expect(transfers()).rejects.toMatchObject({ status: 404 });
  });

  test('an unexpected error in a refresh is logged, and fails the next request', async () => {
    const lines: string[] = [];
    const log = createLogger({ level: 'error', destination: { write: line => void lines.push(line) } });
    const { state, clock, record } = setUp({ answer: final, log });
    await record();
    clock.advance(DAY_MS);
    state.answer = () => Promise.reject(failure('unavailable'));
    await record();
    state.answer = async () => ({ body: unreadable() });
    const stale = await record();
    await settle();

    expect(stale).toMatchObject({ 'X-Cache': 'STALE' });
    expect(lines.map(line => JSON.parse(line))).toMatchObject([
      { operation: 'listTransactionTokenTransfers', err: { message: 'not to be read' } },
    ]);
    await expect(record()).rejects.toThrow('not to be read');
  });

  test('a failed reload of one answer does not affect others', async () => {
    const { does, logs } = await heldWhileDown();
    does[0] = 'has';

    expect(await logs()).toMatchObject({ 'X-Cache': 'MISS' });
  });

  test('without an expired answer every request is sent to the back ends', async () => {
    const { transfers, asked } = world('out');

    await expect(transfers()).rejects.toMatchObject({ status: 502 });
    await expect(transfers()).rejects.toMatchObject({ status: 502 });

    expect(asked()).toEqual([1, 1]);
  });
});

describe('closing', () => {
  test('aborts a running refresh', async () => {
    const { does, transfers, close } = await heldWhileDown();
    does[0] = 'thinks';
    await transfers();

    await expect(close()).resolves.toBeUndefined();
  });

  test('aborts a load with waiting requests, and starts no other', async () => {
    const { transfers, close, asked } = world('thinks', 'has');

    const waiting = transfers();
    const ended = expect(waiting).rejects.toMatchObject({ status: 504 });
    await expect.poll(() => asked()).toEqual([1]);
    await close();
    await ended;

    await expect(transfers()).rejects.toMatchObject({ status: 504 });
    expect(asked()).toEqual([]);
  });
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
