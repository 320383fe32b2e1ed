import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { LiveBlock } from '../backends/port/live-source.ts';
import type { Chain } from '../fallback/chain.ts';
import type { Watch } from './watch.ts';

export type LiveEvent = ExplorerSchemas['LiveEvent'];
export type LiveState = ExplorerSchemas['LiveState'];
type ActivityState = ExplorerSchemas['LiveActivity']['state'];

/** Lines `event` and `data` of an event, with the empty line that ends it. */
export function eventLines(event: LiveEvent): string {
  return `event: ${event.event}\ndata: ${JSON.stringify(event)}\n\n`;
}

export function headEvent(
  { id, confirmations }: Pick<Chain, 'id' | 'confirmations'>,
  backend: string,
  block: LiveBlock,
): LiveEvent {
  const final = block.number - confirmations;
  return {
    event: 'head',
    chain_id: id,
    backend,
    block_number: block.number,
    block_hash: block.hash,
    timestamp: timeOf(block),
    final_block_number: final < 0 ? null : final,
  };
}

/** State of a transaction for a watch. `block` is undefined while it is in none. */
export function activityEvent(
  watch: Watch,
  state: ActivityState,
  { transactionHash, block }: { transactionHash: string; block: LiveBlock | undefined },
): LiveEvent {
  return {
    event: 'activity',
    chain_id: watch.chainId,
    watch: watch.text,
    state,
    transaction_hash: transactionHash,
    block_number: block?.number ?? null,
    block_hash: block?.hash ?? null,
    timestamp: block === undefined ? null : timeOf(block),
  };
}

/** Most hashes of removed blocks in an event, the lowest blocks. */
const MAX_REMOVED = 256;

export function reorganisationEvent(
  chainId: number,
  { removed, ancestor, head }: { removed: readonly string[]; ancestor: number; head: LiveBlock },
): LiveEvent {
  return {
    event: 'reorganisation',
    chain_id: chainId,
    first_block_number: ancestor + 1,
    removed_block_hashes: removed.slice(0, MAX_REMOVED),
    block_number: head.number,
    block_hash: head.hash,
  };
}

/** State of a chain's back ends by what the process knows of them. */
export function stateEvent(
  { id, backends }: Chain,
  seenHead: (backend: string) => number | undefined,
): LiveState {
  return {
    event: 'state',
    chain_id: id,
    backends: backends.map(backend => {
      const { ready, head, lag, stalled = false } = backend.status();
      const { name, kind } = backend;
      return { name, kind, ready, head: head ?? seenHead(name) ?? null, lag: lag ?? null, stalled };
    }),
  };
}

/** Lag in blocks above which it counts as noticeable. */
const NOTICEABLE_LAG = 2;

/** Text that changes when a client should be sent a new state: heads are not in it, and small lags are equal. */
export function stateKey({ backends }: LiveState): string {
  return JSON.stringify(
    backends.map(({ name, ready, stalled, lag }) => [
      name,
      ready,
      stalled,
      lag !== null && lag > NOTICEABLE_LAG,
    ]),
  );
}

function timeOf({ timestamp }: LiveBlock): string {
  return `${new Date(timestamp).toISOString().slice(0, -1)}000Z`;
}
