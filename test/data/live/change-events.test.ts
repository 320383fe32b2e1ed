import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changeEvents } from '#data/live/change-events.ts';
import { liveCursor, readLiveCursor } from '#data/live/live-cursor.ts';
import { recentBlocks } from '#data/live/recent-blocks.ts';
import { watchesIn } from '#data/live/watch.ts';
import { watchList } from '#data/live/watch-list.ts';

const CONFIRMATIONS = 4;
const POOL = Array.from({ length: 12 }, (_, index) => `0x${String(index).padStart(64, '0')}`);

interface ModelBlock {
  readonly number: number;
  readonly hash: string;
  readonly timestamp: number;
  readonly transactions: readonly string[];
}

/** A step of a chain: some of its last blocks are replaced by others with these transactions. */
const step = fc.record({
  depth: fc.nat({ max: 6 }),
  blocks: fc.array(fc.array(fc.nat({ max: POOL.length - 1 }), { maxLength: 3 }), {
    minLength: 1,
    maxLength: 7,
  }),
});

test('whatever is replaced, the latest event about a transaction says where it is', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), steps => {
      const recent = recentBlocks(100);
      const watches = watchList();
      const [watch] = watchesIn([`1:address:0x${'1'.repeat(40)}`]);
      if (watch === undefined) throw new Error('no watch');
      watches.add({ watches: [watch], send: () => undefined, end: () => undefined });
      const entry = watches.get(watch.text);
      if (entry === undefined) throw new Error('no entry');
      let made = 0;
      let chain: readonly ModelBlock[] = [{ number: 0, hash: '0x0', timestamp: 0, transactions: [] }];
      recent.restart(chain);
      const latest = new Map<string, string>();

      for (const { depth, blocks } of steps) {
        const before = chain.at(-1);
        const kept = chain.slice(0, Math.max(1, chain.length - depth));
        const held = new Set(kept.flatMap(({ transactions }) => transactions));
        const added = blocks.map((numbers, index): ModelBlock => {
          made += 1;
          const fresh = [...new Set(numbers.map(number => POOL[number] ?? ''))].filter(
            hash => !held.has(hash),
          );
          for (const hash of fresh) held.add(hash);
          return { number: kept.length + index, hash: `0x${made}`, timestamp: made, transactions: fresh };
        });
        chain = [...kept, ...added];
        const change = recent.continueWith(chain);
        const head = recent.head();
        if (change === undefined || head === undefined || before === undefined) throw new Error('no change');
        const found = change.added.flatMap(({ number }) =>
          (chain[number]?.transactions ?? []).map(transactionHash => ({
            entry,
            transactionHash,
            blockNumber: number,
          })),
        );
        const context = { chainId: 1, confirmations: CONFIRMATIONS, recent, watches };
        for (const { event } of changeEvents(change, { found, before, head }, context))
          if (event.event === 'activity') latest.set(event.transaction_hash, event.state);
      }

      const final = chain.length - 1 - CONFIRMATIONS;
      const included = chain.flatMap(({ transactions }) => transactions);
      const settled = chain.flatMap(({ number, transactions }) => (number <= final ? transactions : []));
      const inState = (...states: readonly string[]) =>
        [...latest].flatMap(([hash, state]) => (states.includes(state) ? [hash] : [])).sort();
      expect(inState('included', 'final')).toEqual(included.toSorted());
      // What was final stays so when the chain becomes shorter below it.
      expect(inState('final')).toEqual(expect.arrayContaining(settled));
    }),
  );
});

test('a cursor is read as it was written, and any other text is none', () => {
  const position = fc.record({
    number: fc.nat(),
    hash: fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map(bytes => `0x${Buffer.from(bytes).toString('hex')}`),
  });
  const positions = fc.array(fc.tuple(fc.nat(), position), { maxLength: 20 }).map(list => new Map(list));

  fc.assert(
    fc.property(positions, written => {
      expect(readLiveCursor(liveCursor(written))).toEqual(written);
      expect(liveCursor(written)).toMatch(/^[A-Za-z0-9_-]{1,4096}$/);
    }),
  );
  fc.assert(
    fc.property(fc.json(), text => {
      const read = readLiveCursor(Buffer.from(text).toString('base64url'));
      expect(read === undefined || text.replaceAll(' ', '') === '[]').toBe(true);
    }),
  );
});
