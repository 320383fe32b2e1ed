import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { Answer, BodyOf, OperationId } from '../../port/backend.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { readRecord } from '../../upstream-json/fields.ts';
import type { Settlement } from './confirmations.ts';
import type { IndexingState } from './indexing.ts';
import type { Refusals } from './refusals.ts';

/** One Blockscout instance and what this service has learnt of it. */
export interface BlockscoutSource {
  readonly name: string;
  readonly chainId: number;
  readonly upstream: Upstream;
  readonly settlement: Settlement;
  readonly indexing: IndexingState;
  readonly refusals: Refusals;
  readonly clock: Clock;
  /** How long after it was asked for a list may still read on, in milliseconds. */
  readonly readOnMs: number;
  readonly log: Logger;
  /** Told of every record that the contract has no place for. */
  onDropped(kind: string): void;
}

/** How an operation is asked for upstream. */
export interface UpstreamGet {
  readonly operation: OperationId;
  /** Below the instance's API, with a leading slash. */
  readonly path: string;
  readonly signal: AbortSignal;
  readonly query?: URLSearchParams | undefined;
}

/** Gets a body and reads it. @throws BackendError `unavailable` for one that cannot be read: it goes to nobody half-made. */
export async function read<Record>(
  source: BlockscoutSource,
  { operation, path, query, signal }: UpstreamGet,
  normalise: (body: unknown) => Record,
): Promise<Record> {
  const { body } = await source.upstream.get(path, { query, signal });
  return readRecord(source, operation, () => normalise(body));
}

/** An answer, with how deep in the chain its record lies where that is known. */
export function settledAnswer<Id extends OperationId>(
  body: BodyOf<Id>,
  confirmations: number | undefined,
): Answer<BodyOf<Id>> {
  return confirmations === undefined ? { body } : { body, confirmations };
}
