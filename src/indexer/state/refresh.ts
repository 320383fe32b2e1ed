import type { Db } from '../../db/open.ts';
import type { ChainClient } from '../../node/client.ts';
import type { BlockFetcher } from '../fetch/fetch-blocks.ts';
import type { Head } from '../schema/head.ts';
import { clean, nextDirty } from '../schema/stale-state.ts';
import type { IndexWrite } from '../schema/writer-lease.ts';
import { type OnChainState, stateReader } from './read-state.ts';
import { knownOf, writeReadings } from './state-writer.ts';

/** Entries read from the node at once and written in one transaction. */
const BATCH = 200;

export interface RefreshDeps {
  db: Db;
  write: IndexWrite;
  client: ChainClient;
  fetcher: BlockFetcher;
  /** The indexed head: state is read as of this block. */
  head: Head;
  signal: AbortSignal | undefined;
}

/**
 * Reads all dirty state again as of the head, batch by batch; what was read is forgotten in the transaction
 * that stores it, so a restart reads an entry again rather than never. When the node turns out to have left
 * the head for another block, the rest stays dirty for the next run.
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
 * Null when the node no longer has the head: it then answers calls with errors that look like a contract's
 * refusal, or with another block's state, so neither its answers nor its errors mean anything.
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
