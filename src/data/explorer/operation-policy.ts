import type { Strategy } from '../fallback/strategies.ts';
import type { AnswerStability } from '../serve/lifetime.ts';
import type { PositionSets } from './selection.ts';

/** What sets one operation apart from the others: how it goes over chains, and what may become of its answers. */
export interface OperationPolicy {
  strategyFor(path: object): Strategy;
  /** The transaction's or block's hash that the path asks for, in lower case: the chain it was found on is remembered. */
  hashOf?(path: object): string | undefined;
  readonly lifetime: AnswerStability;
  /** Whether an answer means that this chain has nothing of it, so that the next one is asked. Pages behind the first never do. */
  isNothing?(body: unknown): boolean;
  /** Keys of `next_page_params` that mean the same place at every back end; absent where none do. Decision 172. */
  readonly portablePositions?: PositionSets;
}
