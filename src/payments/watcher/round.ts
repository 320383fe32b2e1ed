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

/** Context of one look at a chain. Everything in a look is judged against the same head. */
export interface Round {
  readonly chain: PaymentChain;
  readonly view: NodeView;
  readonly head: Header;
  readonly places: Places;
  /** Progress at the beginning of the look; undefined for a chain that was never scanned. */
  readonly progress: ChainProgress | undefined;
  readonly db: Db;
  readonly seals: Seals;
  readonly log: Logger;
  /** Runs after the nodes have proved that everything read so far is of this chain. */
  readonly effect: LeaderTransaction;
  /** Collects progress without findings. It is stored once, at the end of the look. */
  note(progress: LookProgress): void;
}

/** Confirmations of a block: the blocks on top of it (Decision 143), up to the head of the round. */
export function confirmationsOf(
  { blockNumber }: { blockNumber: number },
  { head }: Pick<Round, 'head'>,
): number {
  return head.number - blockNumber;
}

/** Most rows that one database transaction changes, so that other writers do not wait long. */
export const ROWS_PER_EFFECT = 200;

/** A database transaction of the leader, with the state changes of sessions and transactions. */
export interface EffectScope {
  readonly handle: Transaction;
  readonly settle: Settlement;
  readonly now: number;
}

/**
 * Changes the database as the leader. The work may run more than once, so it changes nothing but its scope.
 * @throws LeadershipLost, with nothing changed, when another watcher has taken over
 */
export type LeaderTransaction = <T>(name: EffectName, work: (scope: EffectScope) => Promise<T>) => Promise<T>;

/** Another watcher leads the chain. It finds everything that this one found. */
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

/** Points at which tests interrupt a watcher, in the order of a round. `inside` is before the commit. */
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

/** The same points of the expiry of sessions. */
export const EXPIRY_STEPS = ['before expiry', 'inside expiry', 'after expiry'] as const;

/** Names of the changes in a round. */
type EffectName = 'record' | 'confirm' | 'claims' | 'reorgs' | 'settled' | 'unmatched';

/** Called at every step. Tests end the process in it, or throw. */
export type Failpoint = (step: string) => void | Promise<void>;
