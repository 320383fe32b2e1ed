import type { Db } from '../../db/open.ts';
import type { ChainClient } from '../../node/client.ts';
import type { BlockFetcher } from '../fetch/fetch-blocks.ts';
import type { Head } from '../schema/head.ts';
import { clean, type Dirty, nextDirty } from '../schema/stale-state.ts';
import type { IndexWrite } from '../schema/writer-lease.ts';
import { type OnChainState, stateReader, unreadableState } from './read-state.ts';
import { knownOf, writeReadings } from './state-writer.ts';

/** Entries read from the node together and written in one transaction. */
const BATCH = 200;

/**
 * Failed reads of an entry, one per run, after which its contract counts as refusing it. A call that takes too long
 * also fails those that share its request, and the client needs a few runs to send it alone.
 */
const MOST_FAILURES = 10;

interface RefreshDeps {
  db: Db;
  write: IndexWrite;
  client: ChainClient;
  fetcher: Pick<BlockFetcher, 'header'>;
}

/** Re-reads all dirty state at the indexed head. @throws when the node cannot be reached */
export type RefreshState = (head: Head, signal: AbortSignal | undefined) => Promise<void>;

/**
 * Returns a function that re-reads dirty state batch by batch. Values are stored and their entries removed in one
 * transaction, so a restart may read an entry twice but never skips it. An entry that cannot be read is left for the
 * next run, and the others are stored.
 * When the node no longer has the head, the rest stays dirty for the next run.
 */
export function stateRefresher({ db, write, client, fetcher }: RefreshDeps): RefreshState {
  const failures = new Map<string, number>();

  /** Null for an entry that is read again in the next run. */
  function afterFailure(entry: Dirty): OnChainState | null {
    const key = Object.values(entry).join();
    const count = (failures.get(key) ?? 0) + 1;
    const state = count < MOST_FAILURES ? null : unreadableState(entry);
    if (state === null) failures.set(key, count);
    else failures.delete(key);
    return state;
  }

  return async (head, signal) => {
    while (signal?.aborted !== true) {
      const entries = await nextDirty(db, BATCH);
      if (entries.length === 0) {
        failures.clear();
        return;
      }
      const read = stateReader(client, head.number, await knownOf(db, entries));
      const results = await Promise.allSettled(entries.map(read));
      // Without the head the node answers with state of another block, or with errors that look like a contract's
      // refusal, so neither answers nor errors are usable.
      if ((await fetcher.header(head.number))?.hash !== head.hash) return;
      const firstFailure = results.find(result => result.status === 'rejected');
      if (results.every(({ status }) => status === 'rejected')) throw firstFailure?.reason;
      const done = results.flatMap((result, at) => {
        const entry = entries[at];
        if (entry === undefined) return [];
        const state = result.status === 'fulfilled' ? result.value : afterFailure(entry);
        return state === null ? [] : [{ entry, state }];
      });
      await write(async handle => {
        await writeReadings(
          handle,
          done.map(({ state }) => state),
        );
        await clean(
          handle,
          done.map(({ entry }) => entry),
        );
      });
      if (firstFailure !== undefined) return;
    }
  };
}
