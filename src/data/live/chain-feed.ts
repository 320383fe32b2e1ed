import { type ClockAndLog, logAndGoOn } from '#lib/logger.ts';
import { type RunningWorker, startWorker } from '#lib/worker.ts';
import type { Backend } from '../backends/port/backend.ts';
import type { LiveBlock, LiveSource } from '../backends/port/live-source.ts';
import type { Chain } from '../fallback/chain.ts';
import { activityReads } from './activity-reads.ts';
import { changeEvents, type Sending } from './change-events.ts';
import type { ChainPosition } from './live-cursor.ts';
import { eventLines, headEvent, type LiveEvent, stateEvent, stateKey } from './live-events.ts';
import { recentBlocks, recordActivity } from './recent-blocks.ts';
import { missedSince } from './replay.ts';
import { transactionLooks } from './transaction-looks.ts';
import { type ChainListener, readActivity, type WatchEntry, watchList } from './watch-list.ts';

/** Blocks beyond the confirmations of a chain in which a reorganisation is recognised. */
const MORE_BLOCKS = 128;
const MOST_BLOCKS = 1_000;
/** Time for which an index is followed without a listener: one that reconnects is told what it missed. */
const LINGER_MS = 60_000;

export interface ChainFeedDeps extends ClockAndLog {
  readonly chain: Chain;
  /** Returns the reads of a back end; undefined when it has no blocks. */
  readonly sourceOf: (backend: Backend) => LiveSource | undefined;
}

/** Events of one chain for all streams of the process. It works while there are listeners. */
export interface ChainFeed {
  /** Sends the state and the head, and what was missed since a position, and then every event. */
  join(listener: ChainListener, since: ChainPosition | undefined): Promise<void>;
  leave(listener: ChainListener): void;
  stop(): Promise<void>;
}

export function chainFeed({ chain, sourceOf, clock, log }: ChainFeedDeps): ChainFeed {
  const { id: chainId, confirmations } = chain;
  const keep = Math.min(confirmations + MORE_BLOCKS, MOST_BLOCKS);
  const sources = chain.backends.flatMap(backend => {
    const source = sourceOf(backend);
    return source === undefined ? [] : [{ backend, source }];
  });
  /** Listeners that have joined, or wait for it. */
  const present = new Set<ChainListener>();
  const listeners = new Set<ChainListener>();
  const watches = watchList();
  const recent = recentBlocks(keep);
  const context = { chainId, confirmations, recent, watches };
  const looks = transactionLooks({
    context,
    source: () => current?.source,
    inOrder,
    broadcast,
    clock,
    log,
  });
  const reads = activityReads(context);
  let current = sources[0];
  /** False while a back end that took over has not reached the head of the one before it. */
  let hasCaughtUp = true;
  let knownState = '';
  let last: Promise<unknown> = Promise.resolve();
  let worker: RunningWorker | undefined;
  let leftAt = 0;
  /** True when a change could not be read, so that listeners missed it. */
  let hasMissed = false;

  /** Runs one piece of work at a time, so that every listener sees the same order of events. */
  function inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  }

  const finalNumber = (head: LiveBlock) => head.number - confirmations;
  const stateNow = () =>
    stateEvent(chain, name => (name === current?.backend.name ? recent.head()?.number : undefined));

  /** One turn of a running feed. It ends when there was no listener for a while. */
  async function tick(): Promise<number> {
    watches.dropLeft(clock.now() - LINGER_MS);
    if (present.size === 0) {
      const lingerMs = current?.source.maxWatches === undefined ? LINGER_MS : 0;
      if (clock.now() - leftAt >= lingerMs) {
        void worker?.stop();
        worker = undefined;
        return 0;
      }
    }
    choose();
    tellState();
    await advance();
    looks.lookAgain();
    return 0;
  }

  /** The first back end that is ready; without one, the present one. */
  function choose(): void {
    const next = sources.find(({ backend }) => backend.status().ready) ?? current;
    if (next !== current) hasCaughtUp = false;
    current = next;
  }

  function tellState(): void {
    const state = stateNow();
    const key = stateKey(state);
    if (key !== knownState) broadcast([{ event: state }]);
    knownState = key;
  }

  /** Follows the chain to its head, and tells what changed. */
  async function advance(): Promise<void> {
    const source = current?.source;
    const head = await source?.head();
    const before = recent.head();
    if (source === undefined || head === undefined || head.hash === before?.hash) return;
    if (before === undefined) return restart(source, head);
    hasCaughtUp ||= head.number >= before.number;
    // The answer of a server that is behind, or of a back end that took over and is.
    if (!(source.isExact && hasCaughtUp) && recent.at(head.number)?.hash === head.hash) return;
    const lowest = Math.min(before.number, head.number);
    const isFar = head.number - before.number > keep;
    const change = isFar
      ? undefined
      : (recent.continueWith(await source.blocks({ from: lowest, to: head.number })) ??
        recent.continueWith(await source.blocks({ from: Math.max(0, lowest - keep), to: head.number })));
    if (change === undefined) return restart(source, head);
    const { ancestor, removed, added } = change;
    const now = recent.head();
    if (now === undefined || (removed.length === 0 && added.length === 0)) return;

    const read = await Promise.all([
      reads.since(source, { from: ancestor + 1, to: now.number }),
      reads.settledBelow(source, {
        from: before.number - confirmations + 1,
        to: Math.min(finalNumber(now), ancestor),
      }),
    ]).catch(error => {
      hasMissed = true;
      recent.restart([]);
      throw error;
    });
    const [{ found, isRead, sendings }, settled] = read;
    const batch = changeEvents(change, { found, isRead, before, head: now }, context);
    broadcast([...sendings, ...batch, ...settled, { event: headEvent(chain, backendName(), now) }], now);
  }

  /** Begins at the head of a back end. Clients that know an earlier block have missed something. */
  async function restart(source: LiveSource, head: LiveBlock): Promise<void> {
    const isLost = hasMissed || recent.head() !== undefined;
    recent.restart(await source.blocks({ from: Math.max(0, head.number - keep + 1), to: head.number }));
    const now = recent.head();
    if (now === undefined) return;
    await recordPast(source, watches.all());
    watches.forgetStates(now.number);
    hasCaughtUp = true;
    hasMissed = false;
    const reset: Sending[] = isLost ? [{ event: { event: 'reset', chain_id: chainId } }] : [];
    broadcast([...reset, { event: headEvent(chain, backendName(), now) }], now);
  }

  /** Records the activity of new watches in blocks that are not final, of which clients are told what follows. */
  async function recordPast(source: LiveSource, entries: readonly WatchEntry[]): Promise<void> {
    const head = recent.head();
    const first = recent.first();
    if (head === undefined || first === undefined || source.maxWatches !== undefined) return;
    const range = { from: Math.max(first.number, finalNumber(head) + 1), to: head.number };
    const found = range.from > range.to ? [] : await readActivity(source, entries, range);
    for (const { entry, transactionHash, blockNumber } of found) {
      const block = recent.at(blockNumber);
      if (block !== undefined) recordActivity(block, entry.watch.text, transactionHash);
    }
    for (const entry of entries) entry.recorded = { since: recent.changes(), from: range.from };
  }

  function broadcast(batch: readonly Sending[], position?: ChainPosition): void {
    if (batch.length === 0) return;
    const lines = new Map<ChainListener, string[]>();
    for (const { event, entry, listeners: some } of batch) {
      const text = eventLines(event);
      if (entry?.watch.kind === 'transaction') {
        entry.lastEvent = event;
        if (some === undefined) entry.untold.clear();
      }
      for (const listener of some ?? entry?.listeners ?? listeners) {
        const own = lines.get(listener);
        if (own === undefined) lines.set(listener, [text]);
        else own.push(text);
      }
    }
    for (const [listener, own] of lines) listener.send(own, position);
  }

  function backendName(): string {
    return current?.backend.name ?? '';
  }

  async function welcome(listener: ChainListener, since: ChainPosition | undefined): Promise<void> {
    if (!present.has(listener)) return; // it has left meanwhile
    const source = current?.source;
    if (source !== undefined && recent.head() === undefined) await advance();
    const startedAt = clock.now();
    listeners.add(listener);
    const fresh = watches.add(listener);
    const head = recent.head();
    for (const entry of fresh) if (head !== undefined) entry.readUpTo = head.number;
    const entries = listener.watches.flatMap(watch => watches.get(watch.text) ?? []);
    const transactions = entries.filter(({ watch }) => watch.kind === 'transaction');
    const known = transactions.filter(isKnown);
    for (const { untold } of transactions) untold.set(listener, since !== undefined);
    const state = eventLines(stateNow());
    if (source === undefined || head === undefined) return listener.send([state]);
    await recordPast(source, fresh);
    const events: LiveEvent[] = [headEvent(chain, backendName(), head)];
    if (since !== undefined && since.hash !== head.hash) {
      const deps = { source, chainId, confirmations, head, orphan: recent.orphan };
      // A service that counts requests is not asked again for each client.
      const isCostly = source.maxWatches !== undefined && entries.length > transactions.length;
      const missed = isCostly ? undefined : await missedSince(since, entries, deps);
      events.push(...(missed ?? [{ event: 'reset', chain_id: chainId } as const]));
    }
    for (const { inclusion, lastEvent, untold } of known) {
      if (lastEvent !== undefined && (inclusion !== 'unknown' || since !== undefined)) events.push(lastEvent);
      untold.delete(listener);
    }
    listener.send([state, ...events.map(eventLines)], head);
    listener.charge?.(clock.now() - startedAt);
    // A service that counts requests is asked in turn.
    if (source.maxWatches === undefined)
      looks.lookFor(
        transactions.filter(({ untold }) => untold.has(listener)),
        listener,
      );
  }

  return {
    async join(listener, since) {
      present.add(listener);
      worker ??= start();
      await inOrder(() => welcome(listener, since)).catch((error: unknown) => {
        log.warn({ chainId, err: error }, 'a stream could not be opened');
        listener.end();
      });
      if (!present.has(listener)) forget(listener);
    },
    leave: forget,
    async stop() {
      await worker?.stop();
      await looks.stop();
      await last;
    },
  };

  function forget(listener: ChainListener): void {
    present.delete(listener);
    listeners.delete(listener);
    watches.remove(listener, clock.now());
    leftAt = clock.now();
  }

  function start(): RunningWorker {
    recent.restart([]);
    watches.dropLeft(clock.now());
    knownState = stateKey(stateNow());
    choose();
    const pauseMs = () => current?.source.pollMs ?? 1_000;
    const feed = { name: `live events of chain ${chainId}`, runOnce: () => inOrder(tick) };
    const running = startWorker(feed, { pauseMs, longestPauseMs: 10_000, clock, log });
    for (const { source } of sources)
      void listen(source, running).catch(logAndGoOn(log, 'hearing of blocks'));
    return running;
  }

  /** Wakes the feed at each change of a source, until another one runs. */
  async function listen({ nextChange }: LiveSource, running: RunningWorker): Promise<void> {
    if (nextChange === undefined) return;
    do {
      await nextChange();
      running.nudge();
    } while (worker === running);
  }
}

/** True for a transaction whose last event is still true: in a block, or looked for since. */
function isKnown({ inclusion, lastEvent, listeners }: WatchEntry): boolean {
  return lastEvent !== undefined && (inclusion === 'included' || listeners.size > 1);
}
