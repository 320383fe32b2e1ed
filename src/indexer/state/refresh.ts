import type { Db } from '../../db/open.ts';
import type { ChainClient } from '../../node/client.ts';
import type { BlockFetcher } from '../fetch/fetch-blocks.ts';
import type { Head } from '../schema/head.ts';
import { clean, nextDirty } from '../schema/stale-state.ts';
import type { IndexWrite } from '../schema/writer-lease.ts';
import { type OnChainState, stateReader } from './read-state.ts';
import { knownOf, writeReadings } from './state-writer.ts';

/** Entries read from the node together and written in one transaction. */
const BATCH = 200;

export interface RefreshDeps {
  db: Db;
  write: IndexWrite;
  client: ChainClient;
  fetcher: BlockFetcher;
  /** Indexed head. State is read at this block. */
  head: Head;
  signal: AbortSignal | undefined;
}

/**
 * Re-reads all dirty state at the head, batch by batch. Values are stored and their entries removed in one transaction,
 * so a restart may read an entry twice but never skips it.
 * When the node no longer has this head, the rest stays dirty for the next run.
 */
export async function refreshState({ db, write, client, fetcher, head, signal }: RefreshDeps): Promise<void> {
  while (signal?.aborted !== true) {
    const entries = await nextDirty(db, BATCH);
    if (entries.length === 0) return;
    const read = stateReader(client, head.number, await knownOf(db, entries));
    const readings = await whileNodeHas({ fetcher, head }, Promise.all(entries.map(read)));
    if (readings === null) return;
    await write(async handle => {
      await writeReadings(handle, readings);
      await clean(handle, entries);
    });
  }
}

/**
 * Null when the node no longer has the head. It then answers with state of another block, or with errors that look like
 * a contract's refusal, so neither answers nor errors are usable.
 */
async function whileNodeHas(
  { fetcher, head }: Pick<RefreshDeps, 'fetcher' | 'head'>,
  reading: Promise<OnChainState[]>,
): Promise<OnChainState[] | null> {
  const [readings] = await Promise.allSettled([reading]);
  const current = await fetcher.header(head.number);
  if (current?.hash !== head.hash) return null;
  if (readings.status === 'rejected') throw readings.reason;
  return readings.value;
}
