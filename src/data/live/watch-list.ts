import { setImmediate } from 'node:timers/promises';
import type {
  LiveBlock,
  LiveRange,
  LiveSource,
  WatchedActivity,
  WatchKind,
} from '../backends/port/live-source.ts';
import type { LiveEvent } from './live-events.ts';
import type { Watch } from './watch.ts';

/** Receiver of the events of one chain. */
export interface ChainListener {
  readonly watches: readonly Watch[];
  /** Sends events as written by `eventLines`. `position` is what the client knows after the last of them. */
  send(lines: readonly string[], position?: { readonly number: number; readonly hash: string }): void;
  /** Ends the stream, so that the client reconnects. */
  end(): void;
  /** Counts the milliseconds that were spent on reading for the client. */
  charge?(ms: number): void;
}

/** Something that at least one listener of a chain watches. */
export interface WatchEntry {
  readonly watch: Watch;
  readonly listeners: Set<ChainListener>;
  /** Of a transaction: where it was last seen. */
  inclusion: 'unknown' | 'pending' | 'included';
  /** Of a transaction: the last event about it. */
  lastEvent: LiveEvent | undefined;
  /**
   * Of a transaction: listeners that wait for its state. True for one that may have been told of it before, so that it
   * is also told when no back end knows the transaction.
   */
  readonly untold: Map<ChainListener, boolean>;
  /** Last block whose activity was read. */
  readUpTo: number;
  /** Activity of removed blocks that was not looked for in the blocks that came instead, by transaction hash. */
  readonly orphaned: Map<string, LiveBlock>;
  /** Number of changes of the chain when its activity was first recorded, and the first block of which it was. */
  recorded: { readonly since: number; readonly from: number };
  /** Time at which the last listener left; undefined while there is one. */
  leftAt: number | undefined;
}

/** Activity by watch: transaction and block number. */
export type FoundActivity = readonly {
  readonly entry: WatchEntry;
  readonly transactionHash: string;
  readonly blockNumber: number;
}[];

const KINDS: readonly WatchKind[] = ['address', 'token', 'transaction'];
/** Watches of one statement, and rows that it may have. */
const PER_STATEMENT = 200;
const MAX_ROWS = 5_000;

/** Reads the activity of watches in a range of blocks. A watch with more rows than the maximum gets the first ones. */
export async function readActivity(
  source: LiveSource,
  entries: readonly WatchEntry[],
  range: LiveRange,
): Promise<FoundActivity> {
  const found: FoundActivity[] = [];
  for (const { kind, values, entryOf } of statements(entries)) found.push(await read(kind, values, entryOf));
  return found.flat();

  async function read(
    kind: WatchKind,
    values: readonly string[],
    entryOf: Statement['entryOf'],
  ): Promise<FoundActivity> {
    const rows = await source.activity({ kind, values, ...range, limit: MAX_ROWS });
    await setImmediate(); // many statements of SQLite must not block the process
    if (rows.length === MAX_ROWS && values.length > 1) {
      // A busy watch must not hide the activity of the others.
      const middle = Math.ceil(values.length / 2);
      const halves = [values.slice(0, middle), values.slice(middle)];
      return (await Promise.all(halves.map(half => read(kind, half, entryOf)))).flat();
    }
    return rows.flatMap(entryOf);
  }
}

/** Watches of one kind that are read together. */
interface Statement {
  readonly kind: WatchKind;
  readonly values: readonly string[];
  readonly entryOf: (row: WatchedActivity) => FoundActivity;
}

function statements(entries: readonly WatchEntry[]): Statement[] {
  return KINDS.flatMap(kind => {
    const ofKind = new Map(
      entries.filter(({ watch }) => watch.kind === kind).map(entry => [entry.watch.hex, entry]),
    );
    const entryOf = ({ watched, transactionHash, blockNumber }: WatchedActivity): FoundActivity => {
      const entry = ofKind.get(watched);
      return entry === undefined ? [] : [{ entry, transactionHash, blockNumber }];
    };
    const values = [...ofKind.keys()];
    const starts = Array.from(
      { length: Math.ceil(values.length / PER_STATEMENT) },
      (_, at) => at * PER_STATEMENT,
    );
    return starts.map(start => ({ kind, values: values.slice(start, start + PER_STATEMENT), entryOf }));
  });
}

/** Reads the activity of watches in a range of blocks; undefined when there is more than `most`. */
export async function readAtMost(
  most: number,
  source: LiveSource,
  { entries, ...range }: LiveRange & { readonly entries: readonly WatchEntry[] },
): Promise<FoundActivity | undefined> {
  const found: FoundActivity[number][] = [];
  if (range.from > range.to) return found;
  for (const { kind, values, entryOf } of statements(entries)) {
    const rows = await source.activity({ kind, values, ...range, limit: most + 1 - found.length });
    await setImmediate();
    found.push(...rows.flatMap(entryOf));
    if (found.length > most) return undefined;
  }
  return found;
}

const NEVER = { since: Number.MAX_SAFE_INTEGER, from: Number.MAX_SAFE_INTEGER };

/** Result of `watchList`. */
export type WatchList = ReturnType<typeof watchList>;

/** The watches of all listeners of a chain, each once. */
export function watchList() {
  const entries = new Map<string, WatchEntry>();

  return {
    all: () => [...entries.values()],
    get: (text: string) => entries.get(text),
    /** Adds a listener to its watches and returns those that are new. */
    add(listener: ChainListener): WatchEntry[] {
      return listener.watches.flatMap((watch): WatchEntry[] => {
        const known = entries.get(watch.text);
        if (known !== undefined) {
          known.listeners.add(listener);
          known.leftAt = undefined;
          return [];
        }
        const entry: WatchEntry = {
          watch,
          listeners: new Set([listener]),
          inclusion: 'unknown',
          lastEvent: undefined,
          untold: new Map(),
          readUpTo: Number.MAX_SAFE_INTEGER,
          orphaned: new Map(),
          recorded: NEVER,
          leftAt: undefined,
        };
        entries.set(watch.text, entry);
        return [entry];
      });
    },
    /** Removes a listener. Watches that no other listener has stay until they are dropped. */
    remove(listener: ChainListener, now: number): void {
      for (const { text } of listener.watches) {
        const entry = entries.get(text);
        entry?.listeners.delete(listener);
        entry?.untold.delete(listener);
        if (entry?.listeners.size === 0) entry.leftAt ??= now;
      }
    },
    /** Forgets where transactions are and what was not read yet, because the chain is followed from `head` on. */
    forgetStates(head: number): void {
      for (const entry of entries.values()) {
        entry.readUpTo = head;
        entry.orphaned.clear();
        if (entry.lastEvent !== undefined)
          for (const listener of entry.listeners) entry.untold.set(listener, true);
        entry.lastEvent = undefined;
        entry.inclusion = 'unknown';
      }
    },
    /** Drops watches without a listener since before a time. */
    dropLeft(before: number): void {
      for (const [text, { leftAt }] of entries)
        if (leftAt !== undefined && leftAt <= before) entries.delete(text);
    },
  };
}

/** Takes up to `count` items in turn. */
export function inTurn<Item>() {
  let next = 0;
  return (items: readonly Item[], count: number): readonly Item[] => {
    if (items.length <= count) return items;
    const start = next % items.length;
    next = start + count;
    return [...items, ...items].slice(start, start + count);
  };
}
