import { expect, test } from 'vitest';
import { afterEvent, includedSince, type ReportedState } from '#data/pages/browser/live/live-state.ts';
import { combined, concerns, covers } from '#data/pages/browser/live/messages.ts';
import { eventIn, streamPause } from '#data/pages/browser/live/stream.ts';

const HASH = `0x${'a'.repeat(64)}`;
const WATCH = `7:address:0x${'b'.repeat(40)}`;
const NOW = 1_700_000_000_000;

const backend = {
  name: 'index-7',
  kind: 'index',
  ready: true,
  head: 10,
  lag: 0,
  stalled: false,
  incomplete_blocks: 0,
  capabilities: ['getBlock'],
};
const before: ReportedState = {
  chains: [
    { id: 7, name: 'seven', native: { symbol: 'ETH', decimals: 18 }, confirmations: 2, backends: [backend] },
  ],
  resets: new Map(),
  reorganisations: new Map(),
  activity: new Map(),
};

function activity(state: 'pending' | 'included' | 'final', transaction: string) {
  return {
    event: 'activity' as const,
    chain_id: 7,
    watch: WATCH,
    state,
    transaction_hash: transaction,
    block_number: 11,
    block_hash: HASH,
    timestamp: '2026-01-01T00:00:00.000000Z',
  };
}

test('a head and a state change the back end that they name, and keep what it can do', () => {
  const head = {
    event: 'head' as const,
    chain_id: 7,
    backend: 'index-7',
    block_number: 11,
    block_hash: HASH,
    timestamp: '',
    final_block_number: 9,
  };
  const { name, kind } = backend;
  const silent = { name, kind, ready: false, head: 11, lag: null, stalled: true };

  const moved = afterEvent(before, head, NOW);
  const stopped = afterEvent(moved, { event: 'state', chain_id: 7, backends: [silent] }, NOW);

  expect(moved.chains[0]?.backends).toEqual([{ ...backend, head: 11 }]);
  expect(stopped.chains[0]?.backends).toEqual([{ ...backend, ...silent }]);
});

test('a reorganisation makes all of its chain outdated, and is kept with its time', () => {
  const after = afterEvent(
    before,
    {
      event: 'reorganisation',
      chain_id: 7,
      first_block_number: 9,
      removed_block_hashes: [HASH],
      block_number: 9,
      block_hash: HASH,
    },
    NOW,
  );

  expect(after.resets.get(7)).toBe(1);
  expect(after.reorganisations.get(7)).toEqual({ firstBlock: 9, at: NOW });
  expect(afterEvent(after, { event: 'reset', chain_id: 7 }, NOW).resets.get(7)).toBe(2);
});

test('new transactions are counted once each, from the time when a list was loaded', () => {
  const events = [
    activity('pending', '0x1'),
    activity('included', '0x1'),
    activity('included', '0x1'),
    activity('included', '0x2'),
  ];
  const after = [...events, activity('final', '0x1')].reduce(
    (state, event) => afterEvent(state, event, NOW),
    before,
  );
  const watched = after.activity.get(WATCH) ?? { count: 0, latest: [] };

  expect(watched.count).toBe(4);
  expect([0, 2, 3, 4].map(seen => includedSince(watched, seen))).toEqual([2, 2, 1, 0]);
});

test('the stream of all tabs has what each of them shows, the latest tab first, within its limits', () => {
  const many = Array.from({ length: 40 }, (_, index) => `7:address:0x${String(index).padStart(40, '0')}`);
  const others = many.map(watch => watch.replace('0x0', '0x1'));

  const both = combined([
    { chainIds: [7], watches: many },
    { chainIds: [8], watches: others },
  ]);

  expect(both.chainIds).toEqual([7, 8]);
  expect(both.watches).toEqual([...many, ...others.slice(0, 10)]);
  expect(
    combined([
      { chainIds: [7], watches: [WATCH] },
      { chainIds: undefined, watches: [] },
    ]),
  ).toEqual({
    chainIds: undefined,
    watches: [WATCH],
  });
  expect(covers(both, { chainIds: [7], watches: many.slice(3) })).toBe(true);
  expect(covers(both, { chainIds: undefined, watches: [] })).toBe(false);
  expect(covers(both, { chainIds: [7], watches: [WATCH] })).toBe(false);
});

test('a tab gets the events of its chains, and the activity that it watches', () => {
  const tab = { chainIds: [7], watches: [WATCH] };

  expect(concerns(tab, { event: 'reset', chain_id: 7 })).toBe(true);
  expect(concerns(tab, { event: 'reset', chain_id: 8 })).toBe(false);
  expect(concerns(tab, activity('included', '0x1'))).toBe(true);
  expect(concerns({ chainIds: [7], watches: [] }, activity('included', '0x1'))).toBe(false);
});

test('events are read from their lines, and comments and pauses are none', () => {
  expect(eventIn('id: abc\nevent: reset\ndata: {"event":"reset",\ndata: "chain_id":7}')).toEqual({
    cursor: 'abc',
    event: { event: 'reset', chain_id: 7 },
  });
  expect(eventIn(': still here')).toBeUndefined();
  expect(eventIn('retry: 3000')).toBeUndefined();
});

test('a broken stream is opened again within a second, a refused one at growing, spread intervals', () => {
  expect([0, 1].map(chance => streamPause(1, 0, chance))).toEqual([0, 500]);
  expect([0, 1].map(chance => streamPause(4, 0, chance))).toEqual([4_000, 8_000]);
  expect([0, 1].map(chance => streamPause(20, 0, chance))).toEqual([30_000, 60_000]);
  expect(streamPause(1, 9_000, 0)).toBe(9_000);
});
