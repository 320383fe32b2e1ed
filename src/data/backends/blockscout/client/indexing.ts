import type { Clock } from '#lib/clock.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { indexingStatus } from '../normalise/indexing-status.ts';
import { sideRequests } from './side-requests.ts';

/** How far an instance has indexed its chain, as it says itself, asked for once a minute at most. */
export interface IndexingState {
  /** False only where the instance says that more than a few blocks are missing. */
  hasBlocks(): Promise<boolean>;
  /** Whether it has looked inside of all transactions; undefined where it does not say. */
  hasTraces(): Promise<boolean | undefined>;
}

const REMEMBERED_MS = 60_000;
/** Many instances never get the last few blocks; they still know of nearly everything. */
const COMPLETE = 0.99;

export function indexing({ upstream, clock }: { upstream: Upstream; clock: Clock }): IndexingState {
  const ask = sideRequests(upstream);
  let known: { readonly status: Promise<Status | undefined>; readonly until: number } | undefined;

  return {
    async hasBlocks() {
      const status = await current();
      return status?.finished_indexing_blocks !== false || Number(status.indexed_blocks_ratio) >= COMPLETE;
    },
    async hasTraces() {
      const status = await current();
      if (status === undefined) return undefined;
      return status.finished_indexing && Number(status.indexed_internal_transactions_ratio) >= 1;
    },
  };

  /** What it could not tell is remembered too: most of those who ask do without. */
  function current(): Promise<Status | undefined> {
    if (known === undefined || clock.now() >= known.until)
      known = {
        status: ask('/main-page/indexing-status').then(statusOrNone),
        until: clock.now() + REMEMBERED_MS,
      };
    return known.status;
  }
}

type Status = ReturnType<typeof indexingStatus>;

function statusOrNone(body: unknown): Status | undefined {
  try {
    return indexingStatus(body);
  } catch {
    return undefined; // a request that failed, or a body that says nothing
  }
}
