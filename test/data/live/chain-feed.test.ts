import { describe, expect, test } from 'vitest';
import { feedOf, modelChain } from './model-chain.ts';

const address = (at: number) => `0x${at.toString(16).padStart(40, '0')}`;
const hash = (at: number) => `0x${at.toString(16).padStart(64, '0')}`;
const service = { isExact: false, maxWatches: 2 };

describe('watched transactions', () => {
  test('do not delay heads while a node is slow to say where they are', async () => {
    const chain = modelChain(10);
    const feed = feedOf([chain]);
    let asked = 0;
    const slow = Promise.withResolvers<undefined>();
    chain.inclusion = () => {
      asked += 1;
      return slow.promise;
    };
    const other = feed.join([]);
    await other.joined;

    feed.join(Array.from({ length: 50 }, (_, at) => `transaction:${hash(at)}`));
    await feed.until(() => asked > 0);
    chain.add();
    await feed.until(() => other.has({ event: 'head', block_number: 11 }));

    expect(asked).toBeLessThanOrEqual(8);
    slow.resolve(undefined);
  });

  test('are looked for one by one, whatever fails for another', async () => {
    const chain = modelChain(10);
    const feed = feedOf([chain]);
    const [good, bad] = [hash(1), hash(2)];
    const stream = feed.join([`transaction:${good}`, `transaction:${bad}`]);
    await stream.joined;

    chain.inclusion = async of => {
      if (of === bad) throw new Error('a node that fails');
      return 'pending';
    };
    await feed.until(() => stream.has({ state: 'pending', transaction_hash: good }));
  });

  test('that nothing knows any more are removed for a client that returns', async () => {
    const chain = modelChain(10);
    const feed = feedOf([chain]);
    chain.inclusion = async () => 'pending';
    const watch = `transaction:${hash(1)}`;
    const stream = feed.join([watch]);
    await feed.until(() => stream.has({ state: 'pending' }));
    stream.leave();
    chain.inclusion = async () => undefined;

    const again = feed.join([watch], chain.blocks.at(-1));
    await feed.until(() => again.has({ state: 'removed' }));

    expect(again.has({ state: 'pending' })).toBe(false);
  });

  test('of a service are looked for before they are removed by a reorganisation', async () => {
    const chain = modelChain(10, service);
    const feed = feedOf([chain]);
    const [moved, lost] = [hash(1), hash(2)];
    chain.inclusion = async () => ({ blockNumber: 10 });
    const stream = feed.join([`transaction:${moved}`, `transaction:${lost}`]);
    await feed.until(() =>
      [moved, lost].every(one => stream.has({ state: 'included', transaction_hash: one })),
    );

    chain.inclusion = async of => (of === moved ? { blockNumber: 11 } : undefined);
    chain.cut(10);
    chain.add({}, 'b');
    chain.add({}, 'b');
    await feed.until(() => stream.has({ state: 'included', block_number: 11 }));
    await feed.until(() => stream.has({ state: 'removed', transaction_hash: lost }));

    expect(stream.has({ state: 'removed', transaction_hash: moved })).toBe(false);
  });
});

describe('more watches than a service is asked for at a time', () => {
  test('get the activity of all blocks, when their turn comes', async () => {
    const chain = modelChain(10, service);
    const feed = feedOf([chain], { confirmations: 20 });
    const watched = [1, 2, 3, 4, 5].map(address);
    const stream = feed.join(watched.map(one => `address:${one}`));
    await stream.joined;

    chain.add(Object.fromEntries(watched.map((one, at) => [one, [hash(at)]])));
    await feed.until(() => stream.has({ event: 'head', block_number: 11 }));
    for (const number of [12, 13]) {
      chain.add();
      await feed.until(() => stream.has({ event: 'head', block_number: number }));
    }

    for (const at of watched.keys())
      expect(stream.has({ state: 'included', block_number: 11, transaction_hash: hash(at) })).toBe(true);
    expect(chain.reads.every(({ values }) => values.length <= 2)).toBe(true);
  });

  test('are removed only when the new blocks were read for them', async () => {
    const chain = modelChain(10, service);
    const feed = feedOf([chain], { confirmations: 20 });
    const watched = [1, 2, 3, 4].map(address);
    const stream = feed.join(watched.map(one => `address:${one}`));
    await stream.joined;
    const activity = Object.fromEntries(watched.map((one, at) => [one, [hash(at)]]));
    chain.add(activity);
    await feed.until(() => stream.has({ event: 'head', block_number: 11 }));
    chain.add();
    await feed.until(() => stream.has({ event: 'head', block_number: 12 }));

    chain.cut(11);
    const { [address(4)]: _, ...kept } = activity;
    chain.add(kept, 'b');
    for (const number of [12, 13, 14]) chain.add({}, `b${number}`);
    await feed.until(() => stream.has({ event: 'head', block_number: 14 }));
    chain.add();
    await feed.until(() => stream.has({ event: 'head', block_number: 15 }));

    expect(
      stream.events.flatMap(({ state, transaction_hash }) => (state === 'removed' ? [transaction_hash] : [])),
    ).toEqual([hash(3)]);
  });

  test('are reset when their blocks are no longer kept', async () => {
    const chain = modelChain(10, service);
    const feed = feedOf([chain], { confirmations: 0 });
    const stream = feed.join([1, 2, 3].map(at => `address:${address(at)}`));
    await stream.joined;
    chain.add();
    await feed.until(() => stream.has({ event: 'head', block_number: 11 }));

    for (let number = 12; number <= 150; number += 1) chain.add();
    await feed.until(() => stream.has({ event: 'head', block_number: 150 }));

    expect(stream.has({ event: 'reset' })).toBe(true);
  });
});

test('a back end that takes over and is behind is no reorganisation', async () => {
  const [index, other] = [modelChain(10), modelChain(12, { isExact: false })];
  const feed = feedOf([index, other]);
  feed.ready[0] = false;
  const stream = feed.join([]);
  await stream.joined;
  await feed.until(() => stream.has({ block_number: 12 }));

  feed.ready[0] = true;
  await feed.until(() => stream.events.at(-1)?.event === 'state');
  for (const _ of [11, 12, 13]) index.add();
  await feed.until(() => stream.has({ block_number: 13 }));

  expect(stream.events.map(({ event }) => event)).not.toContain('reorganisation');
  expect(stream.events.map(({ event }) => event)).not.toContain('reset');
});

describe('a client that missed', () => {
  test('a reorganisation gets the activity of the blocks that came instead', async () => {
    const chain = modelChain(10);
    const feed = feedOf([chain], { confirmations: 0 });
    const watched = address(1);
    const stream = feed.join([`address:${watched}`]);
    await stream.joined;
    chain.add({ [watched]: [hash(1)] });
    const since = chain.add({ [watched]: [hash(2)] });
    await feed.until(() => stream.has({ block_number: 12 }));
    stream.leave();

    chain.cut(11);
    chain.add({ [watched]: [hash(3)] }, 'b');
    chain.add({}, 'b');
    chain.add();
    const other = feed.join([]);
    await feed.until(() => other.has({ block_number: 13 }));
    const again = feed.join([`address:${watched}`], since);
    await again.joined;

    expect(again.events.map(({ state, transaction_hash }) => state && [state, transaction_hash])).toEqual(
      expect.arrayContaining([
        ['removed', hash(1)],
        ['removed', hash(2)],
        ['final', hash(3)],
      ]),
    );
  });

  test('too much is reset after few reads', async () => {
    const chain = modelChain(10);
    const feed = feedOf([chain]);
    const watched = Array.from({ length: 50 }, (_, at) => address(at + 1));
    const since = chain.blocks.at(-1);
    for (let block = 0; block < 8; block += 1)
      chain.add(
        Object.fromEntries(
          watched.map((one, at) => [
            one,
            Array.from({ length: 20 }, (_, nth) => hash(block * 1e6 + at * 1e3 + nth)),
          ]),
        ),
      );
    const first = feed.join([]);
    await first.joined;
    chain.reads.splice(0);

    const again = feed.join(
      watched.map(one => `address:${one}`),
      since,
    );
    await again.joined;

    expect(again.has({ event: 'reset' })).toBe(true);
    expect(chain.reads.filter(({ from }) => from <= 11)).toHaveLength(2);
  });
});

describe('with more confirmations than blocks are kept', () => {
  const CONFIRMATIONS = 1_200;

  test('activity becomes final', async () => {
    const chain = modelChain(2_000);
    const feed = feedOf([chain], { confirmations: CONFIRMATIONS });
    const watched = address(1);
    const stream = feed.join([`address:${watched}`]);
    await stream.joined;
    chain.add({ [watched]: [hash(1)] });
    await feed.until(() => stream.has({ state: 'included' }));

    for (let blocks = 0; blocks < CONFIRMATIONS; blocks += 400) {
      for (let block = 0; block < 400; block += 1) chain.add();
      await feed.until(() => stream.has({ event: 'head', block_number: chain.blocks.length - 1 }));
    }

    expect(stream.has({ state: 'final', transaction_hash: hash(1) })).toBe(true);
  });

  test('a client that missed it is sent it', async () => {
    const chain = modelChain(900);
    const watched = address(1);
    chain.add({ [watched]: [hash(1)] });
    for (let blocks = 1; blocks < CONFIRMATIONS; blocks += 1) chain.add();
    const since = chain.blocks.at(-1);
    for (let blocks = 0; blocks < 10; blocks += 1) chain.add();
    const feed = feedOf([chain], { confirmations: CONFIRMATIONS });

    const stream = feed.join([`address:${watched}`], since);
    await stream.joined;

    expect(stream.has({ state: 'final', transaction_hash: hash(1), block_number: 901 })).toBe(true);
    expect(stream.has({ event: 'reset' })).toBe(false);
  });
});
