import type { ExplorerOperations } from '#contract/contracts/explorer.ts';
import type { OperationBody, OperationRequest } from '#contract/contracts/operations.ts';
import type { CursorPosition } from './cursor.ts';
import type { InsightsAnswers } from './insights-backend.ts';
import type { LiveSource } from './live-source.ts';

/** Operations of document 1 that back ends answer. The stream of live events is made from several answers. */
export type DataOperations = Omit<ExplorerOperations, 'streamLive'>;
export type OperationId = keyof DataOperations & string;
export type RequestOf<Id extends OperationId> = OperationRequest<DataOperations[Id]>;
export type BodyOf<Id extends OperationId> = OperationBody<DataOperations[Id]>;

/** Context of a request to a back end, in addition to the operation's own parameters. */
export interface Ask {
  /** Aborts when the caller no longer needs the answer or the deadline has passed. */
  readonly signal: AbortSignal;
  /** Start of the next page, as this back end wrote it into its cursor. */
  readonly position?: CursorPosition | undefined;
}

/** A response body of the contract, with the depth in the chain of the record it describes. */
export interface Answer<Body> {
  readonly body: Body;
  /**
   * Number of blocks on top of the record. Absent when no number of blocks makes the answer final: a feed, a pending
   * transaction, a record that calls itself incomplete.
   */
  readonly confirmations?: number;
  /**
   * Present when the answer covers data outside of blocks, such as pending transactions. It may then change without a
   * new block.
   */
  readonly unsettled?: true;
}

/** Operations that a back end can answer. A missing one is `unsupported`. */
export type Answers = {
  readonly [Id in OperationId]?: (request: RequestOf<Id>, ask: Ask) => Promise<Answer<BodyOf<Id>>>;
};

/** Cache validity of a back end's answers. Only a back end that sees every block has it. */
export interface Validity {
  /** Changes with every block and every reorg that readers can see. */
  readonly revision: string;
  /** Changes with every reorg deeper than the chain's confirmations and with every new index. */
  readonly epoch: string;
}

export interface BackendStatus {
  readonly ready: boolean;
  readonly head: number | undefined;
  readonly lag: number | undefined;
  /** Lag of an index by the last head that its node reported, however long ago. */
  readonly lastLag?: number | undefined;
  /** Age in seconds of the head of an index that is behind its node or without it; 0 at the node's head. */
  readonly lagSeconds?: number | undefined;
  /** True for an index that does not move although it should (Decision 286). */
  readonly stalled?: boolean | undefined;
  /** Number of blocks of an index without a part that its node could not give (Decision 285). */
  readonly incompleteBlocks?: number | undefined;
  /** Number of balances, owners and tokens of an index whose last read failed; 1,000 stands for more (Decision 308). */
  readonly unreadState?: number | undefined;
  /** Proofs of an index. */
  readonly proofs?: ProofStatus | undefined;
}

/** Recomputed blocks of an index, and contradictions of its nodes (Decisions 379 to 382). */
interface ProofStatus {
  /** Share of the blocks that are proven, from 0 to 1. */
  readonly provenShare: number | undefined;
  /** Reason for which the chain counts as unproven. */
  readonly unprovable: string | undefined;
  /** Nodes that are left out now. `until` is in UTC milliseconds. */
  readonly contradicting: readonly { node: string; block: number; reason: string; until: number }[];
  /** Number of times that nodes were left out since the start, by host name. */
  readonly contradictions: ReadonlyMap<string, number>;
  /** Number of different hosts whose nodes name our block at the depth of finality. */
  readonly headAgreedBy: number | undefined;
}

/** Answers that cover the chain from `firstBlock` on. */
interface PartialInsights {
  readonly firstBlock: number;
  readonly insights: InsightsAnswers;
}

/** One source of a chain's data. A back end supports the operations that are present in `answers`. */
export interface Backend {
  readonly kind: 'index' | 'blockscout' | 'insight';
  /** Unique among the configured back ends; shown to clients as `X-Backend`. */
  readonly name: string;
  readonly chainId: number;
  /** True when requests are charged to a key. Feeds are then refreshed less often. */
  readonly isMetered?: boolean;
  readonly answers: Answers;
  /** Operations of document 2 that it supports. */
  readonly insights?: InsightsAnswers;
  /**
   * Operations of document 2, answered without the chain's first blocks. Undefined when the back end has all blocks and
   * `insights` is complete.
   */
  partial?(): PartialInsights | undefined;
  /** Back ends of several chains with the same value are asked about all those chains in one request. */
  readonly sharedAs?: string;
  /** Identity of the stored data, different from any other data of the same chain. Absent when it stores none. */
  readonly dataId?: string;
  validity?(): Validity;
  status(): BackendStatus;
  /** True when other processes use the same storage, so that they lose it as well. False when absent. */
  readonly isShared?: boolean;
  /** Rejects when its storage cannot be read. */
  probe?(): Promise<void>;
  /** Reads for streams of live events. Without them, they ask for its answers. */
  readonly live?: LiveSource;
  /** Updates `status` when that takes a request. Never rejects. */
  refreshStatus?(): Promise<void>;
}
