import type { Clock } from '#lib/clock.ts';
import type { NodeView } from './node-view.ts';
import { type Scan, scan } from './scan.ts';
import type { WatchedAddresses } from './token-transfers.ts';
import type { BlockRange } from './transfer-logs.ts';

/** Logs from which on a scan is remembered. With fewer, reading them again costs little. */
const MANY_LOGS = 1_000;
/** A remembered scan is not read again for this many times as long as reading it took, but not longer than `MAX_MS`. */
const REST_FACTOR = 10;
/** Shorter than the time in which logs that were late are looked for. */
const MAX_MS = 30_000;

/** Addresses that a scan looks for, and the blocks that it passes over. */
interface ScanTarget {
  readonly watched: WatchedAddresses;
  /** Blocks that are passed over, because their logs are read in pieces. */
  readonly skipped: ReadonlySet<number>;
  readonly isSettled: (key: string) => boolean;
  /** See `loggedTransferOf`. */
  readonly coinLogsFrom: number | undefined;
}

/** A scan of many logs. */
interface RememberedScan extends Pick<ScanTarget, 'watched' | 'skipped'> {
  readonly range: BlockRange;
  readonly found: Scan;
  readonly readAt: number;
  readonly tookMs: number;
}

/**
 * Scans ranges as `scan` does. The recent blocks are read again in each look, which in a flood would take most of its
 * time. So a scan that found many logs is remembered for a while, and as long as its last block stands, the next scan
 * reads only the blocks above it.
 */
export function rememberedScan({ chainId, view, clock }: { chainId: number; view: NodeView; clock: Clock }) {
  let remembered: RememberedScan | undefined;

  /** The remembered scan, if the range begins with it. */
  async function beginningOf(
    { from, to }: BlockRange,
    { watched, skipped }: ScanTarget,
  ): Promise<RememberedScan | undefined> {
    if (remembered === undefined) return undefined;
    const { range, found, readAt, tookMs } = remembered;
    const isWithin = range.from <= from && range.to >= from && range.to <= to;
    const isSame = remembered.watched === watched && isEqual(remembered.skipped, skipped);
    const isRecent = clock.now() - readAt < Math.min(MAX_MS, REST_FACTOR * tookMs);
    if (!isWithin || !isSame || !isRecent) return undefined;
    const header = (await view.headers([range.to])).get(range.to);
    return header?.hash === found.lastHash ? remembered : undefined;
  }

  return {
    async read(range: BlockRange, target: ScanTarget): Promise<Scan | undefined> {
      const begunAt = clock.now();
      const known = await beginningOf(range, target);
      const from = known === undefined ? range.from : known.range.to + 1;
      const added =
        from > range.to ? undefined : await scan({ from, to: range.to }, { chainId, view, ...target });
      remembered = undefined;
      if (added === undefined && from <= range.to) return undefined;
      const found = combined(range, known?.found, added);
      if (found === undefined || found.unsureFrom !== undefined || found.unread.length > 0) return found;
      if (found.transfers.length + found.settled.length < MANY_LOGS) return found;
      const { watched, skipped } = target;
      const tookMs = (known?.tookMs ?? 0) + clock.now() - begunAt;
      remembered = { range, found, watched, skipped, readAt: known?.readAt ?? begunAt, tookMs };
      return found;
    },

    /** Reads everything again in the next scan. */
    forget(): void {
      remembered = undefined;
    },
  };
}

/** The scan of a range, from those of its beginning and of the rest. */
function combined({ from }: BlockRange, first: Scan | undefined, rest: Scan | undefined): Scan | undefined {
  if (first === undefined || rest === undefined) return first ?? rest;
  return {
    ...rest,
    transfers: [...first.transfers.filter(one => one.blockNumber >= from), ...rest.transfers],
    settled: [...first.settled, ...rest.settled],
  };
}

function isEqual(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  return a.size === b.size && a.isSubsetOf(b);
}
