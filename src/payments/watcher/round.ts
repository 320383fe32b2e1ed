import type { Db } from '../../db/open.ts';
import type { Logger } from '../../lib/logger.ts';
import type { PaymentChain } from '../model/payment-chain.ts';
import type { Seals } from '../secrets/sealed.ts';
import type { ChainCursor } from '../store/cursor-store.ts';
import type { LeaderTransaction } from './effect.ts';
import type { Header, NodeView } from './node/node-view.ts';
import type { Places } from './node/places.ts';

/** What one look at a chain goes by: everything in it is judged against the same head. */
export interface Round {
  readonly chain: PaymentChain;
  readonly view: NodeView;
  readonly head: Header;
  readonly places: Places;
  readonly db: Db;
  readonly seals: Seals;
  readonly log: Logger;
  /** Has the nodes vouch first that everything read so far is of this chain. */
  readonly effect: LeaderTransaction;
  /** Keeps how far the chain was looked through, where nothing was found: the head itself vouches for that. */
  note(cursor: ChainCursor): Promise<void>;
}

/** Confirmations of what is in a block: the blocks on top of it, up to the head of the round. Decision 143. */
export function confirmationsOf(
  { blockNumber }: { blockNumber: number },
  { head }: Pick<Round, 'head'>,
): number {
  return head.number - blockNumber;
}

/** Work that one transaction does at most, so that others get their turn at the database. */
export const ROWS_PER_EFFECT = 200;
