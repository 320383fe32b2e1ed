import { setImmediate } from 'node:timers/promises';
import type { Leadership } from '#db/leader.ts';
import type { Db, Transaction } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger, LogLine } from '#lib/logger.ts';
import type { NodeTraffic } from '#node/chain-node.ts';
import type { PaymentChain } from '../../model/payment-chain.ts';
import { type RefundMoves, refundMoves } from '../../refunds/refund-moves.ts';
import type { Seals } from '../../secrets/sealed.ts';
import type { Move } from '../../settlement/session-totals.ts';
import { type Settlement, settlement } from '../../settlement/settlement.ts';
import type { ChainProgress, LookProgress } from '../../store/cursor-store.ts';
import type { NodePool } from '../node/node-pool.ts';
import type { Header, LinkedHeader, NodeView } from '../node/node-view.ts';
import type { WatchedAddresses } from '../node/token-transfers.ts';
import { logPayments } from './payment-lines.ts';

/** Context of one look at a chain. Everything in a look is judged against the same head. */
export interface Look {
  readonly chain: PaymentChain;
  readonly view: NodeView;
  readonly head: LinkedHeader;
  readonly watched: WatchedAddresses;
  /** Progress at the beginning of the look; undefined for a chain that was never scanned. */
  readonly progress: ChainProgress | undefined;
  /**
   * Number of the block from which on coins are read from logs only, and before which from transactions only
   * (Decision 374); undefined while none is recorded.
   */
  readonly coinLogsFrom: number | undefined;
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly log: Logger;
  /** For lines of which a look may write many. */
  readonly line: LogLine;
  /** Runs after the nodes have proved that everything read so far is of this chain. */
  readonly effect: LeaderTransaction;
  /** Collects progress without findings. It is stored once, at the end of the look. */
  note(progress: LookProgress): void;
}

/** Confirmations of a block: the blocks on top of it (Decision 143), up to the head of the look. */
export function confirmationsOf(
  { blockNumber }: { blockNumber: number },
  { head }: Pick<Look, 'head'>,
): number {
  return head.number - blockNumber;
}

/** True when the coins that contracts sent in a block are recorded, or no node can show them. */
export type TracedCheck = (look: Look, block: Pick<Header, 'number' | 'hash'>) => Promise<boolean>;

/** A database transaction of the leader, with the state changes of sessions, transactions and refunds. */
export interface EffectScope {
  readonly handle: Transaction;
  readonly settle: Settlement;
  readonly refunds: RefundMoves;
  readonly now: number;
  /** Lets other work run after a long turn. Call it between rows: awaiting SQLite lets nothing else run. */
  readonly breathe: () => Promise<void>;
}

/**
 * Changes the database as the leader. The work may run more than once, so it changes nothing but its scope.
 * @throws LeadershipLost, with nothing changed, when another watcher has taken over
 */
export type LeaderTransaction = <T>(
  name: EffectName,
  work: (scope: EffectScope) => Promise<T>,
  /** Milliseconds in which conflicts are retried; see `transaction`. */
  retryForMs?: number,
) => Promise<T>;

/** Most rows that one database transaction changes, so that other writers do not wait long. */
const ROWS_PER_EFFECT = 200;
/** Time in which conflicts of many rows are retried before fewer rows are tried. */
const RETRY_FOR_MS = 500;

/**
 * Changes rows in parts, each in its own transaction, and returns the results of the parts. A part that keeps
 * conflicting is tried again with fewer rows: on PostgreSQL a long transaction can conflict with every short one of the
 * API and would then never commit.
 */
export async function changeInParts<Row, Result>(
  { effect, db }: Pick<Look, 'effect' | 'db'>,
  { name, rows, weightOf = () => 1, isSpent = () => false }: Parts<Row, Result>,
  change: (part: readonly Row[], scope: EffectScope, isLast: boolean) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let most = ROWS_PER_EFFECT;
  for (let from = 0; from < rows.length && !isSpent(results); ) {
    const part = partFrom(rows.slice(from), { most, weightOf });
    const isLast = from + part.length === rows.length;
    try {
      const retryForMs = part.length > 1 ? RETRY_FOR_MS : undefined;
      results.push(await effect(name, scope => change(part, scope, isLast), retryForMs));
      from += part.length;
      most = Math.min(ROWS_PER_EFFECT, 2 * most);
    } catch (error) {
      if (part.length === 1 || !db.dialect.isRetryable(error)) throw error;
      most = Math.floor(Math.min(most, part.length) / 4);
    }
  }
  return results;
}

/** Rows that are changed in parts. */
interface Parts<Row, Result> {
  readonly name: EffectName;
  readonly rows: readonly Row[];
  /** Number of rows that one of them counts as; 1 when absent. */
  readonly weightOf?: (row: Row) => number;
  /** True when no further part is to be changed after these; false when absent. */
  readonly isSpent?: (results: readonly Result[]) => boolean;
}

/** The first rows with a total weight of about `most`, at least one of them. */
function partFrom<Row>(
  rows: readonly Row[],
  { most, weightOf }: { most: number; weightOf: (row: Row) => number },
): readonly Row[] {
  let weight = 0;
  const end = rows.findIndex(row => {
    const isFull = weight >= most;
    weight += weightOf(row);
    return isFull;
  });
  return end < 0 ? rows : rows.slice(0, Math.max(end, 1));
}

/** Another watcher leads the chain. It finds everything that this one found. */
export class LeadershipLost extends Error {
  override readonly name = 'LeadershipLost';
}

/**
 * A change also extends the lease when a third of it has passed. What happened to payments is logged once it is
 * committed.
 */
export function effects(deps: {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly line: LogLine;
  readonly lease: {
    readonly leader: Leadership;
    isDue(): boolean;
    changed(time: number, how: { readonly isExtended: boolean }): void;
  };
  readonly fault: Failpoint;
}): LeaderTransaction {
  const { db, seals, clock, line, lease, fault } = deps;
  return async (name, work, retryForMs) => {
    const begunAt = clock.now();
    const isDue = lease.isDue();
    await fault(`before ${name}`);
    let moves: Move[] = [];
    const changed = async (handle: Transaction) => {
      moves = [];
      const leads = isDue ? await lease.leader.confirm(handle) : await lease.leader.check(handle);
      if (!leads) throw new LeadershipLost('Another watcher leads.');
      const now = clock.now();
      const settle = settlement({ handle, seals, now, onMove: move => moves.push(move) });
      const refunds = refundMoves({ handle, seals, now });
      const done = await work({ handle, settle, refunds, now, breathe: breather() });
      await fault(`inside ${name}`);
      return done;
    };
    const result = await transaction(db, changed, retryForMs);
    logPayments(moves, line);
    await fault(`after ${name}`);
    lease.changed(begunAt, { isExtended: isDue });
    return result;
  };
}

/**
 * Changes after the nodes of a pool have proved that everything read so far is of this chain. Changes between which
 * nothing is read need one proof: a flood is recorded in a hundred parts.
 */
export function verifiedBy(
  pool: Pick<NodePool, 'unverify' | 'verify' | 'traffic'>,
  effect: LeaderTransaction,
): LeaderTransaction {
  let proven: NodeTraffic | undefined;
  return async (name, work, retryForMs) => {
    const { calls, bytes } = pool.traffic();
    if (calls !== proven?.calls || bytes !== proven.bytes) pool.unverify();
    await pool.verify();
    proven = pool.traffic();
    return effect(name, work, retryForMs);
  };
}

/** Longest turn of the event loop after which `breathe` yields. */
const LONGEST_TURN_MS = 5;

/** Returns a function that yields to other work when `LONGEST_TURN_MS` have passed since it last did. */
export function breather(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < LONGEST_TURN_MS) return;
    await setImmediate();
    since = performance.now();
  };
}

/** Names of the changes in a look. */
export type EffectName =
  | 'record'
  | 'confirm'
  | 'claims'
  | 'reports'
  | 'reorgs'
  | 'settled'
  | 'unmatched'
  | 'refunds';

/** Called at every step of a look, and before, inside and after each change. Tests end the process in it, or throw. */
export type Failpoint = (step: string) => void | Promise<void>;
