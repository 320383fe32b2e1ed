import type { OperationId } from '#data/backends/port/backend.ts';
import type { EmulatedRequest } from '../../support/blockscout-emulator.ts';
import type { Client } from '../../support/contract-client.ts';
import type { Places } from '../ground.ts';
import type { Limits } from '../limits.ts';

/** A running data service whose only back end is to conform. */
export interface Subject extends AsyncDisposable {
  readonly url: string;
  /** What it calls itself in `X-Backend`. */
  readonly backend: string;
  readonly chainId: number;
  /** Confirmations with which a record is final. */
  readonly confirmations: number;
  /** A data service that serves the same chain from its index. */
  readonly referenceUrl: string;
  readonly places: Places;
  /** What reached its upstream so far; nothing where there is none. */
  upstreamRequests(): readonly EmulatedRequest[];
}

/** What every part of the suite works with. Only within tests, since all of it has to be started first. */
export interface Bench {
  readonly limits: Limits;
  readonly subject: Subject;
  /** The back end that is to conform, and the index, every answer held against the contract. */
  readonly api: Client;
  readonly reference: Client;
  /** Height of the chain. */
  readonly head: number;
  isMissing(asked: { readonly operation: OperationId }): boolean;
}

/** What a client hears where no back end has such an answer. */
export const NO_SUCH_ANSWER = 501;
/** The hash of nothing. */
export const NO_HASH = `0x${'ab'.repeat(32)}`;
