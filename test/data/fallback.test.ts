import { describe, expect, test } from 'vitest';
import { hashOf } from './answer-support.ts';
import { type Does, world } from './fallback-support.ts';

const HOUR_MS = 3_600_000;

/** The chain that answered, or the status of the failure. */
async function outcome(answer: Promise<Record<string, string>>): Promise<number> {
  return answer.then(
    headers => Number(headers['X-Chain-Id']),
    error => error.status,
  );
}

/** Outcome of a request that waits for one stagger, with the chains asked before and after it. */
async function afterOneStagger(
  { clock, asked }: Pick<ReturnType<typeof world>, 'clock' | 'asked'>,
  request: Promise<Record<string, string>>,
) {
  const answer = outcome(request);
  await expect.poll(() => clock.sleepers()).toBe(1);
  const before = asked();
  clock.advance(400);
  return [await answer, before, asked()];
}

describe('a lookup by hash, address or id', () => {
  test('waits one stagger for a slow chain, not its timeout', async () => {
    const chains = world('thinks', 'has');

    expect(await afterOneStagger(chains, chains.transfers())).toEqual([2, [1], [2]]);
  });

  test('waits one stagger for each of several slow chains', async () => {
    const { transfers, clock } = world('thinks', 'thinks', 'has');

    const answer = outcome(transfers());
    for (let chain = 1; chain <= 2; chain += 1) {
      await expect.poll(() => clock.sleepers()).toBe(1);
      clock.advance(400);
    }

    expect(await answer).toBe(3);
  });

  test('returns the most preferred of several answers', async () => {
    const { transfers, clock, release, asked } = world('thinks', 'late', 'late');

    const answer = outcome(transfers());
    for (let chain = 1; chain <= 2; chain += 1) {
      await expect.poll(() => clock.sleepers()).toBe(1);
      clock.advance(400);
    }
    const chains: number[] = [];
    await expect.poll(() => chains.push(...asked())).toBe(3);
    release(3, 2);

    expect(await answer).toBe(2);
    expect(chains).toEqual([1, 2, 3]);
  });

  test('does not wait after a chain that has nothing', async () => {
    const { transfers, asked } = world('lacks', 'out', 'has');

    expect(await outcome(transfers())).toBe(3);
    expect(asked()).toEqual([1, 2, 3]);
  });

  test.each<[string, Does[], number]>([
    ['an empty list of an address counts as no result', ['empty', 'has'], 2],
    ['the first chain’s empty page is the answer when no chain has anything', ['empty', 'empty'], 1],
    ['an empty page takes precedence over another chain’s “not found”', ['lacks', 'empty'], 2],
    ['“not found” on every chain is a 404', ['lacks', 'lacks'], 404],
    ['a later chain’s result takes precedence over an outage', ['out', 'has'], 2],
    ['a later chain’s result takes precedence over an empty page and an outage', ['empty', 'out', 'has'], 3],
    ['the first chain with a result answers', ['has', 'has'], 1],
    ['an empty page before an outage is no final result', ['empty', 'out'], 502],
    ['an empty page after an outage is no final result', ['out', 'empty', 'lacks'], 502],
    ['an empty page after a timeout is no final result', ['slow', 'empty'], 504],
    ['an empty page after an index that is filling is no final result', ['filling', 'empty'], 501],
    ['a chain without the operation does not prevent a final empty result', ['cannot', 'empty'], 2],
  ])('%s', async (_name, does, expected) => {
    expect(await outcome(world(...does).withdrawals())).toBe(expected);
  });

  test('keeps an answer of a chain’s next back end for at most 30 s while the first one is out', async () => {
    expect(await world(['out', 'has']).transfers()).toMatchObject({ 'Cache-Control': 'public, max-age=30' });
    expect(await world(['cannot', 'has']).transfers()).toMatchObject({
      'Cache-Control': 'public, max-age=86400',
    });
  });

  test('treats “not found” after an outage of the same chain as final, and keeps an empty page', async () => {
    expect(await outcome(world(['out', 'lacks'], 'empty').withdrawals())).toBe(2);
    expect(await outcome(world(['out', 'empty'], 'empty').withdrawals())).toBe(1);
  });

  test.each<[Does[], number]>([
    [['empty', 'out'], 502],
    [['empty', 'has'], 2],
    [['empty', 'empty'], 1],
  ])('for a search redirect over chains that are %j answers %i', async (does, expected) => {
    expect(await outcome(world(...does).redirect())).toBe(expected);
  });
});

describe('a remembered location', () => {
  test('is asked first for an hour, in any operation', async () => {
    const { transfers, logs, block, clock, asked } = world('lacks', 'has');

    await transfers();
    const found = asked();
    clock.advance(HOUR_MS - 1);
    await logs();
    const remembered = asked();
    clock.advance(1);
    await block(hashOf('a'));

    expect([found, remembered, asked()]).toEqual([[1, 2], [2], [1, 2]]);
  });

  test('applies to a hash in any letter case, and to blocks by hash', async () => {
    const { block, logs, asked } = world('lacks', 'has');

    await block(hashOf('b'));
    await logs(`0x${'B'.repeat(64)}`);

    expect(asked()).toEqual([1, 2, 2]);
  });

  test('expires an hour after the hash was found, however often it was used', async () => {
    const { transfers, logs, block, clock, asked } = world('lacks', 'has');

    await transfers();
    clock.advance(HOUR_MS / 2);
    await logs();
    clock.advance(HOUR_MS / 2);
    asked();
    await block(hashOf('a'));

    expect(asked()).toEqual([1, 2]);
  });

  test.each<[string, Does[]]>([
    ['after an outage', ['out', 'has']],
    ['after a timeout', ['slow', 'has']],
    ['after an index that is still filling', ['filling', 'has']],
    ['after a chain that cannot answer this operation but may answer the next', ['cannot', 'has']],
    ['after an outage of one chain of several', ['lacks', 'out', 'has']],
  ])('is never stored %s', async (_name, does) => {
    const { transfers, logs, asked } = world(...does);

    await transfers();
    asked();
    await logs();

    expect(asked()).toEqual(does.map((_, at) => at + 1));
  });

  test('is never stored after an outage inside a chain, even if that chain then said “not found”', async () => {
    const { transfers, logs, asked } = world(['out', 'lacks'], 'has');

    await transfers();
    await logs();

    expect(asked()).toEqual([1, 1, 2, 1, 1, 2]);
  });

  test('is stored despite back ends that never answer this operation, if their chain said “not found”', async () => {
    const { transfers, logs, asked } = world(['cannot', 'lacks'], ['cannot', 'has']);

    await transfers();
    asked();
    await logs();

    expect(asked()).toEqual([2, 2]);
  });

  test('is not stored while an earlier chain has not answered and may have the record too', async () => {
    const { does, transfers, logs, clock, asked } = world('thinks', 'has');

    const answer = transfers();
    await expect.poll(() => clock.sleepers()).toBe(1);
    clock.advance(400);
    await answer;
    asked();
    does[0] = 'has';

    expect(await outcome(logs())).toBe(1);
    expect(asked()).toEqual([1]);
  });

  test('is deleted when that chain then says “not found”', async () => {
    const { does, transfers, logs, block, asked } = world('lacks', 'has');

    await transfers();
    does[1] = 'lacks';
    const gone = await outcome(logs());
    asked();
    does[0] = 'has';
    const found = await outcome(block(hashOf('a')));

    expect([gone, found, asked()]).toEqual([404, 1, [1]]);
  });

  test('that is out is followed by the other chains in configured order', async () => {
    const { does, transfers, logs, asked } = world('lacks', 'lacks', 'has');

    await transfers();
    asked();
    does[2] = 'out';

    expect(await outcome(logs())).toBe(502);
    expect(asked()).toEqual([3, 1, 2]);
  });

  test('is kept while that chain is out, although the other chains say “not found”', async () => {
    const { does, transfers, logs, block, asked } = world('lacks', 'has');

    await transfers();
    does[1] = 'out';
    const during = await outcome(logs());
    asked();
    does[1] = 'has';
    const after = await outcome(block(hashOf('a')));

    expect([during, after, asked()]).toEqual([502, 2, [2]]);
  });

  test('that is slow costs one stagger', async () => {
    const { does, transfers, logs, clock } = world('lacks', 'has');

    await transfers();
    does[0] = 'has';
    does[1] = 'thinks';
    const answer = outcome(logs());
    await expect.poll(() => clock.sleepers()).toBe(1);
    clock.advance(400);

    expect(await answer).toBe(1);
  });

  test('does not affect a request that names its chain', async () => {
    const { transfers, block, asked } = world('lacks', 'has');

    await transfers();
    asked();
    const named = await outcome(transfers('a', { chain_id: 1 }));
    const asNamed = asked();
    await transfers('c', { chain_id: 2 });
    asked();
    await block(hashOf('c'));

    expect([named, asNamed, asked()]).toEqual([404, [1], [1, 2]]);
  });

  test('exists only for hashes: an address is looked up again', async () => {
    const { withdrawals, clock, asked } = world('empty', 'has');

    await withdrawals();
    clock.advance(2 * HOUR_MS);
    await withdrawals();

    expect(asked()).toEqual([1, 2, 1, 2]);
  });
});

describe('a block number', () => {
  test.each<[string, Does[], number]>([
    ['is the first chain’s block', ['has', 'has'], 1],
    ['is never another chain’s block while the first is out', ['out', 'has'], 502],
    ['is never another chain’s block while the first is slow', ['slow', 'has'], 504],
    ['is never another chain’s block when the first cannot answer', ['cannot', 'has'], 501],
    ['above the first chain’s head is a 404', ['lacks', 'has'], 404],
  ])('%s', async (_name, does, expected) => {
    const { block, asked } = world(...does);

    expect(await outcome(block('99'))).toBe(expected);
    expect(asked()).toEqual([1]);
  });

  test('with chain_id means that chain’s block', async () => {
    const { block, asked } = world('out', 'has');

    expect(await outcome(block('99', { chain_id: 2 }))).toBe(2);
    expect(asked()).toEqual([2]);
  });
});

describe('feeds and statistics', () => {
  test.each<[string, Does[], number, number[]]>([
    ['come from the first chain that is available', ['has', 'has'], 1, [1]],
    ['come from the first chain also when it has nothing', ['empty', 'has'], 1, [1]],
    ['come from the next chain after an outage', ['out', 'has'], 2, [1, 2]],
    ['come from the next chain after a timeout', ['slow', 'has'], 2, [1, 2]],
    ['come from the next chain when the first cannot answer', ['cannot', 'has'], 2, [1, 2]],
    ['come from the next chain when the first says that there is no such list', ['lacks', 'has'], 2, [1, 2]],
    [
      'are a 502, and never an undeclared 404, when no chain has such a list',
      ['lacks', 'lacks'],
      502,
      [1, 2],
    ],
  ])('%s', async (_name, does, expected, way) => {
    const { feed, asked } = world(...does);

    expect(await outcome(feed())).toBe(expected);
    expect(asked()).toEqual(way);
  });

  test('come from the chain’s next back end when the first has no such list', async () => {
    const { feed, redirect } = world(['lacks', 'has'], 'has');

    expect(await outcome(feed())).toBe(1);
    expect(await outcome(redirect())).toBe(1);
  });

  test('wait one stagger for a first chain that hangs, not its deadline', async () => {
    const chains = world('thinks', 'has');

    expect(await afterOneStagger(chains, chains.feed())).toEqual([2, [1], [2]]);
  });
});

describe('chain_id', () => {
  test('limits every kind of lookup to one chain', async () => {
    const { feed, transfers, withdrawals, block, asked } = world('has', 'lacks');

    const answers = [(query: object) => transfers('a', query), withdrawals];
    for (const ask of answers) expect(await outcome(ask({ chain_id: 2 }))).toBe(404);
    expect(await outcome(feed({ chain_id: 2 }))).toBe(502);
    expect(await outcome(block('1', { chain_id: 2 }))).toBe(404);

    expect(asked()).toEqual([2, 2, 2, 2]);
  });

  test('of an unknown chain is a 400 without any request to a back end', async () => {
    const { feed, withdrawals, asked } = world('has', 'has');

    expect(await outcome(feed({ chain_id: 3 }))).toBe(400);
    expect(await outcome(withdrawals({ chain_id: 3 }))).toBe(400);
    expect(asked()).toEqual([]);
  });
});
