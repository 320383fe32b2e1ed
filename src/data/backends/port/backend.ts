import type { ExplorerOperations } from '#contract/contracts/explorer.ts';
import type { OperationBody, OperationRequest } from '#contract/contracts/operations.ts';
import type { CursorPosition } from './cursor.ts';
import type { InsightsAnswers } from './insights-backend.ts';

export type DataOperations = ExplorerOperations;
export type OperationId = keyof DataOperations & string;
export type RequestOf<Id extends OperationId> = OperationRequest<DataOperations[Id]>;
export type BodyOf<Id extends OperationId> = OperationBody<DataOperations[Id]>;

/** What a back end is told beside the operation's own parameters. */
export interface Ask {
  /** Aborts when the answer is not wanted any more or the deadline has passed. */
  readonly signal: AbortSignal;
  /** Where a page walk goes on, as this same back end wrote it into its cursor. */
  readonly position?: CursorPosition;
}

/** A body of the contract, and how deep in its chain lies what it tells of. */
export interface Answer<Body> {
  readonly body: Body;
  /**
   * Blocks on top of the record, for an answer about one settled thing. Left out where nothing can settle it:
   * a feed, a pending transaction, a record that says of itself that it is incomplete.
   */
  readonly confirmations?: number;
  /** It tells of what waits outside of blocks, so no block says when it changes. */
  readonly unsettled?: true;
}

/** The operations a back end can answer; one that is missing here is `unsupported`. */
export type Answers = {
  readonly [Id in OperationId]?: (request: RequestOf<Id>, ask: Ask) => Promise<Answer<BodyOf<Id>>>;
};

/** Until when answers hold that a back end gave: known only to one that sees every block. */
export interface Validity {
  /** Changes with every block and every reorg that readers can see. */
  readonly revision: string;
  /** Changes with every reorg deeper than the chain's confirmations, and with every new index. */
  readonly epoch: string;
}

export interface BackendStatus {
  readonly ready: boolean;
  readonly head: number | undefined;
  readonly lag: number | undefined;
}

/** Answers from a first block on. */
export interface PartialInsights {
  readonly firstBlock: number;
  readonly insights: InsightsAnswers;
}

/** One source of a chain's data. Capability is presence in `answers`. */
export interface Backend {
  readonly kind: 'index' | 'blockscout' | 'insight';
  /** Unique among the configured back ends; shown to clients as `X-Backend`. */
  readonly name: string;
  readonly chainId: number;
  /** Its requests are charged to a key, so that feeds are asked for less often. */
  readonly isMetered?: boolean;
  readonly answers: Answers;
  /** What it knows of document 2. */
  readonly insights?: InsightsAnswers;
  /**
   * What it says of document 2 when its chain's first blocks need not be in the answer. Undefined when it has them all:
   * then `insights` says everything.
   */
  partial?(): PartialInsights | undefined;
  /** Back ends of several chains with the same one are asked about all of them at once. */
  readonly sharedAs?: string;
  /** Tells the data that it keeps from every other of the same chain; absent where it keeps none. */
  readonly dataId?: string;
  validity?(): Validity;
  status(): BackendStatus;
  /** Rejects when what it keeps itself cannot be read. */
  probe?(): Promise<void>;
  /** Brings `status` up to date where that takes a request; never rejects. */
  refreshStatus?(): Promise<void>;
}
