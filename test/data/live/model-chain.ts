import { Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { Backend } from '#data/backends/port/backend.ts';
import type { LiveBlock, LiveSource, WatchedActivity } from '#data/backends/port/live-source.ts';
import { chainFeed } from '#data/live/chain-feed.ts';
import type { ChainPosition } from '#data/live/live-cursor.ts';
import { watchesIn } from '#data/live/watch.ts';
import { createLogger } from '#lib/logger.ts';
import { until } from '../../lab/until.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';

interface ModelBlock extends LiveBlock {
  readonly parentHash: string;
  /** Transaction hashes by what is watched. */
  readonly activity: Readonly<Record<string, readonly string[]>>;
}

/** A chain as a source of live events reads it. Its blocks are those of a test. */
export interface ModelChain {
  readonly source: LiveSource;
  blocks: readonly ModelBlock[];
  /** Appends a block with some activity; `fork` tells blocks of one height apart. */
  add(activity?: ModelBlock['activity'], fork?: string): ModelBlock;
  /** Removes blocks from a height on. Their headers stay known. */
  cut(from: number): void;
  /** What a node says of a transaction. */
  inclusion: LiveSource['inclusion'];
  /** Reads of activity so far. */
  readonly reads: { readonly values: readonly string[]; readonly from: number; readonly to: number }[];
}

/** A chain of blocks 0 to `head`. */
export function modelChain(head: number, options: Partial<LiveSource> = {}): ModelChain {
  const orphans: ModelBlock[] = [];
  const chain: ModelChain = {
    blocks: [],
    reads: [],
    inclusion: async () => undefined,
    add(activity = {}, fork = '') {
      const number = chain.blocks.length;
      const hash = `0x${Buffer.from(`${number}${fork}`).toString('hex').padStart(64, '0')}`;
      const block = {
        number,
        hash,
        parentHash: chain.blocks.at(-1)?.hash ?? '',
        timestamp: number * 1_000,
        activity,
      };
      chain.blocks = [...chain.blocks, block];
      return block;
    },
    cut(from) {
      orphans.push(...chain.blocks.slice(from));
      chain.blocks = chain.blocks.slice(0, from);
    },
    source: {
      isExact: true,
      pollMs: 1_000,
      head: async () => chain.blocks.at(-1),
      blocks: async ({ from, to }) => chain.blocks.slice(Math.max(0, from), to + 1),
      async activity({ values, from, to, limit }) {
        chain.reads.push({ values, from, to });
        const rows = chain.blocks.slice(from, to + 1).flatMap(({ number, activity }) =>
          values.flatMap((watched): WatchedActivity[] =>
            (activity[watched] ?? []).map(transactionHash => ({
              watched,
              transactionHash,
              blockNumber: number,
            })),
          ),
        );
        return rows.slice(0, limit);
      },
      orphans: async ({ from, to }) => orphans.filter(({ number }) => number >= from && number <= to),
      inclusion: hash => chain.inclusion(hash),
      ...options,
    },
  };
  for (let number = 0; number <= head; number += 1) chain.add();
  return chain;
}

/** Feed of chain 1 over these chains, each as a back end, with a clock that a test advances. */
export function feedOf(
  chains: readonly ModelChain[],
  { confirmations = 2 }: { confirmations?: number } = {},
) {
  const clock: ManualClock = manualClock();
  const ready = chains.map(() => true);
  const backends = chains.map(
    (_, at): Pick<Backend, 'name' | 'kind' | 'status'> => ({
      name: `backend-${at}`,
      kind: 'index',
      status: () => ({ ready: ready[at] ?? false, head: undefined, lag: undefined }),
    }),
  );
  const log = createLogger({ level: 'fatal', destination: new Writable({ write: (_, __, done) => done() }) });
  const feed = chainFeed({
    // A feed reads no answers of a back end but its state.
    chain: {
      id: 1,
      key: '1',
      name: 'One',
      native: { symbol: 'ETH', decimals: 18 },
      confirmations,
      backends: backends as Backend[],
    },
    sourceOf: backend => chains[backends.findIndex(({ name }) => name === backend.name)]?.source,
    clock,
    log,
  });
  onTestFinished(() => feed.stop());
  return {
    ready,
    /** Advances the clock until a condition holds. */
    async until(condition: () => boolean): Promise<void> {
      await until(async () => {
        clock.advance(10_000);
        return condition();
      }, Boolean);
    },
    /** Joins with some watches. */
    join(watches: readonly string[], since?: ChainPosition) {
      const events: Readonly<Record<string, unknown>>[] = [];
      const listener = {
        watches: watchesIn(watches.map(watch => `1:${watch}`)),
        send: (lines: readonly string[]) =>
          void events.push(...lines.map(text => JSON.parse(text.slice(text.indexOf('data: ') + 6)))),
        end: () => undefined,
      };
      const has = (members: Readonly<Record<string, unknown>>) =>
        events.some(event => Object.entries(members).every(([name, value]) => event[name] === value));
      return { events, has, joined: feed.join(listener, since), leave: () => feed.leave(listener) };
    },
  };
}
