import type { ClockAndLog } from '#lib/logger.ts';
import type { LiveBlock, LiveSource } from '../backends/port/live-source.ts';
import type { ChangeContext, Sending } from './change-events.ts';
import { activityEvent } from './live-events.ts';
import { recordActivity } from './recent-blocks.ts';
import { type ChainListener, inTurn, type WatchEntry } from './watch-list.ts';

/** Transactions that are looked for at the same time, of all streams of a chain. */
const MAX_PARALLEL = 8;
/** Transactions in no block that are looked for again in one turn. */
const MAX_LOOKED_FOR = 20;

interface TransactionLooksDeps extends ClockAndLog {
  readonly context: Pick<ChangeContext, 'chainId' | 'confirmations' | 'recent' | 'watches'>;
  readonly source: () => LiveSource | undefined;
  /** Runs work in the order of events. */
  readonly inOrder: <Result>(work: () => Promise<Result>) => Promise<Result>;
  readonly broadcast: (batch: readonly Sending[]) => void;
}

/** Looks for watched transactions. A node may take long to answer, so they are not in the order of events. */
export interface TransactionLooks {
  /** Looks for these transactions. The time is charged to the listener. */
  lookFor(entries: readonly WatchEntry[], listener?: ChainListener): void;
  /** Looks again for some of those that are in no known block, in turn. */
  lookAgain(): void;
  /** Drops what waits and resolves when nothing runs. */
  stop(): Promise<void>;
}

export function transactionLooks(deps: TransactionLooksDeps): TransactionLooks {
  const { context, inOrder, broadcast, clock, log } = deps;
  const { chainId, recent, watches } = context;
  const inSomeTurn = inTurn<WatchEntry>();
  /** Entries that wait for a look, with the listener that is charged for it. */
  const waiting = new Map<WatchEntry, ChainListener | undefined>();
  const busy = new Set<WatchEntry>();
  const running = new Set<Promise<void>>();
  let isFailing = false;

  function lookFor(entries: readonly WatchEntry[], listener?: ChainListener): void {
    for (const entry of entries) if (!busy.has(entry) && !waiting.has(entry)) waiting.set(entry, listener);
    while (running.size < MAX_PARALLEL && running.size < waiting.size) {
      const run = runWaiting().finally(() => running.delete(run));
      running.add(run);
    }
  }

  async function runWaiting(): Promise<void> {
    await Promise.resolve(); // a run is counted before it begins
    for (const [entry, listener] of waiting) {
      waiting.delete(entry);
      busy.add(entry);
      const startedAt = clock.now();
      try {
        await look(entry);
        isFailing = false;
      } catch (error) {
        if (!isFailing) log.warn({ chainId, err: error }, 'a watched transaction could not be looked for');
        isFailing = true;
      } finally {
        busy.delete(entry);
        listener?.charge?.(clock.now() - startedAt);
      }
    }
  }

  async function look(entry: WatchEntry): Promise<void> {
    const source = deps.source();
    if (source === undefined || entry.listeners.size === 0) return;
    const { lastEvent } = entry;
    const breaks = recent.breaks();
    const found = await source.inclusion(entry.watch.hex);
    const old = typeof found === 'object' ? await blockOf(source, found.blockNumber) : undefined;
    await inOrder(async () => {
      // Something else became known of it during the look, or the answer is of another chain. The next turn looks again.
      if (deps.source() !== source || recent.breaks() !== breaks || entry.lastEvent !== lastEvent) return;
      tell(entry, found, old);
    });
  }

  /** A block that is not among the recent ones; undefined for one of these, and when there is none. */
  async function blockOf(source: LiveSource, number: number): Promise<LiveBlock | undefined> {
    if (recent.at(number) !== undefined) return undefined;
    const [block] = await source.blocks({ from: number, to: number });
    return block;
  }

  /** Tells the listeners of a transaction where it is: all of them when that changed, else those that do not know. */
  function tell(
    entry: WatchEntry,
    found: Awaited<ReturnType<LiveSource['inclusion']>>,
    old: LiveBlock | undefined,
  ): void {
    const { watch, untold } = entry;
    const transactionHash = watch.hex;
    if (typeof found === 'object') {
      const { blockNumber } = found;
      const kept = recent.at(blockNumber);
      const block = kept ?? old;
      const head = recent.head();
      // Its block comes next.
      if (block === undefined || head === undefined || blockNumber > head.number) return;
      if (kept !== undefined) recordActivity(kept, watch.text, transactionHash);
      const isFinal = blockNumber <= head.number - context.confirmations;
      entry.inclusion = 'included';
      const event = activityEvent(watch, isFinal ? 'final' : 'included', { transactionHash, block });
      broadcast([{ event, entry }]);
      return;
    }
    const inclusion = found ?? 'unknown';
    const event = activityEvent(watch, found ?? 'removed', { transactionHash, block: undefined });
    if (inclusion !== entry.inclusion) {
      entry.inclusion = inclusion;
      broadcast([{ event, entry }]);
      return;
    }
    const listeners = [...untold].flatMap(([listener, mayKnowIt]) =>
      inclusion === 'pending' || mayKnowIt ? [listener] : [],
    );
    untold.clear();
    if (listeners.length > 0) broadcast([{ event, entry, listeners }]);
  }

  return {
    lookFor,
    lookAgain() {
      const unsettled = watches
        .all()
        .filter(
          ({ watch, inclusion, untold, listeners }) =>
            watch.kind === 'transaction' &&
            listeners.size > 0 &&
            (inclusion !== 'included' || untold.size > 0),
        );
      lookFor(inSomeTurn(unsettled, MAX_LOOKED_FOR));
    },
    async stop() {
      waiting.clear();
      await Promise.all(running);
    },
  };
}
