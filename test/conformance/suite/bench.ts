import type { OperationId } from '#data/backends/port/backend.ts';
import type { EmulatedRequest } from '../../lab/blockscout-emulator.ts';
import type { Client } from '../../support/contract-client.ts';
import type { Item } from '../../support/walk.ts';
import type { Places } from '../ground.ts';
import type { Limits } from '../limits.ts';

/** A running data service with only the tested back end. */
export interface Subject extends AsyncDisposable {
  readonly url: string;
  /** Name of the back end in `X-Backend`. */
  readonly backend: string;
  readonly chainId: number;
  /** Confirmations with which a record is final. */
  readonly confirmations: number;
  /** A data service of the same chain over its index. */
  readonly referenceUrl: string;
  readonly places: Places;
  /** Requests to its upstream so far; empty where there is none. */
  upstreamRequests(): readonly EmulatedRequest[];
}

/** Fixtures of every part of the suite. Available only within tests, after the start. */
export interface Bench {
  readonly limits: Limits;
  readonly subject: Subject;
  /** Clients of the tested back end and of the index, with every answer checked against the contract. */
  readonly api: Client;
  readonly reference: Client;
  /** Height of the chain. */
  readonly head: number;
  isMissing(asked: { readonly operation: OperationId }): boolean;
  /** Items as they are, or sorted by token in a list whose order is that of reading. */
  inSharedOrder(items: readonly Item[], list: { readonly operation: OperationId }): readonly Item[];
}

/** Status when no back end has such an answer. */
export const NO_SUCH_ANSWER = 501;
/** A hash that belongs to nothing. */
export const NO_HASH = `0x${'ab'.repeat(32)}`;
