import type { Leadership } from '../../db/leader.ts';
import type { Db, Transaction } from '../../db/open.ts';
import { transaction } from '../../db/transaction.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { PaymentChain } from '../model/payment-chain.ts';
import type { Seals } from '../secrets/sealed.ts';
import { type Settlement, settlement } from '../settlement/settlement.ts';
import type { ChainProgress, LookProgress } from '../store/cursor-store.ts';
import type { Header, NodeView } from './node/node-view.ts';
import type { Places } from './node/token-transfers.ts';

/** What one look at a chain goes by: everything in it is judged against the same head. */
export interface Round {
  readonly chain: PaymentChain;
  readonly view: NodeView;
  readonly head: Header;
  readonly places: Places;
  /** As it was when the look began; undefined for a chain that was not looked through before. */
  readonly progress: ChainProgress | undefined;
  readonly db: Db;
  readonly seals: Seals;
  readonly log: Logger;
  /** Has the nodes vouch first that everything read so far is of this chain. */
  readonly effect: LeaderTransaction;
  /** Remembers progress where nothing was found. It is kept once, when the look ends: the head itself vouches for it. */
  note(progress: LookProgress): void;
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

/** One transaction of the leader, with the moves of sessions and transactions in it. */
export interface EffectScope {
  readonly handle: Transaction;
  readonly settle: Settlement;
  readonly now: number;
}

/**
 * Changes the database, once, as the leader. The work may run more than once and touches only its scope.
 * @throws LeadershipLost, with nothing changed, when another watcher has taken over
 */
export type LeaderTransaction = <T>(name: EffectName, work: (scope: EffectScope) => Promise<T>) => Promise<T>;

/** Another watcher of the chain is at work; it sees what this one saw. */
export class LeadershipLost extends Error {
  override readonly name = 'LeadershipLost';
}

export function effects(deps: {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly leader: Leadership;
  readonly fault: Failpoint;
}): LeaderTransaction {
  const { db, seals, clock, leader, fault } = deps;
  return async (name, work) => {
    await fault(`before ${name}`);
    const result = await transaction(db, async handle => {
      if (!(await leader.confirm(handle))) throw new LeadershipLost('Another watcher leads.');
      const now = clock.now();
      const done = await work({ handle, settle: settlement({ handle, seals, now }), now });
      await fault(`inside ${name}`);
      return done;
    });
    await fault(`after ${name}`);
    return result;
  };
}

/** The points between which a watcher can be killed, in the order of a round. `inside` is before the commit. */
export const WATCHER_STEPS = [
  'round',
  'head',
  'scan',
  'before record',
  'inside record',
  'after record',
  'before confirm',
  'inside confirm',
  'after confirm',
  'before claims',
  'inside claims',
  'after claims',
  'before reorgs',
  'inside reorgs',
  'after reorgs',
  'before unmatched',
  'inside unmatched',
  'after unmatched',
  'before settled',
  'inside settled',
  'after settled',
] as const;

/** Those of the expiry of sessions. */
export const EXPIRY_STEPS = ['before expiry', 'inside expiry', 'after expiry'] as const;

/** What a part of a round changes. */
type EffectName = 'record' | 'confirm' | 'claims' | 'reorgs' | 'settled' | 'unmatched';

/** Called at every step; tests end the process in it, or throw. */
export type Failpoint = (step: string) => void | Promise<void>;
