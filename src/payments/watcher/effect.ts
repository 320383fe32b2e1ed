import type { Leadership } from '../../db/leader.ts';
import type { Db, Transaction } from '../../db/open.ts';
import { transaction } from '../../db/transaction.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Seals } from '../secrets/sealed.ts';
import { type Settlement, settlement } from '../settlement/settlement.ts';

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
  'before settled',
  'inside settled',
  'after settled',
  'before unmatched',
  'inside unmatched',
  'after unmatched',
] as const;

/** Those of the expiry of sessions. */
export const EXPIRY_STEPS = ['before expiry', 'inside expiry', 'after expiry'] as const;

/** What a part of a round changes. */
export type EffectName = 'record' | 'confirm' | 'claims' | 'reorgs' | 'settled' | 'unmatched';

/** Called at every step; tests end the process in it, or throw. */
export type Failpoint = (step: string) => void | Promise<void>;
