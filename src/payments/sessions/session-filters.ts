import type { Sql } from '../../db/query.ts';
import { OUTCOME_SQL, type Outcome } from '../model/outcome.ts';
import type { Owner } from '../model/owner.ts';
import type { SessionStatus } from '../model/session.ts';
import { allOf, optionalCondition, ownedBy } from '../store/list-query.ts';
import { IS_OPEN } from '../store/transfer-store.ts';

/** Filters of a list of sessions. `from` (inclusive) and `to` (exclusive) are creation times in UTC milliseconds. */
export interface SessionFilters {
  readonly status?: SessionStatus | undefined;
  readonly outcome?: Outcome | undefined;
  /** True for sessions with a completed refund. */
  readonly isRefunded?: boolean | undefined;
  /** True for candidates of open unmatched transfers. */
  readonly isCandidate?: boolean | undefined;
  readonly paymentLinkId?: string | undefined;
  readonly chainId?: number | undefined;
  /** Lower case. */
  readonly tokenAddress?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

const CANDIDATES = `select c.session_id from transfer_candidates c
  where c.transfer_id in (select id from unmatched_transfers where ${IS_OPEN})`;

/** Condition for the sessions of an owner that match every filter. */
export function sessionsMatching(owner: Owner, filters: SessionFilters): Sql {
  return allOf([ownedBy(owner), filteredSessions(filters)]);
}

/** The same for sessions of any owner. */
export function filteredSessions(filters: SessionFilters): Sql {
  const { isRefunded, isCandidate } = filters;
  return allOf([
    optionalCondition('status = ?', filters.status),
    optionalCondition(`(${OUTCOME_SQL}) = ?`, filters.outcome),
    // The amount is literal, so that the partial index of refunded sessions is used. It is the column form of 0.
    chosen(isRefunded, "amount_refunded <> '010'", "amount_refunded = '010'"),
    chosen(isCandidate, `id in (${CANDIDATES})`, `id not in (${CANDIDATES})`),
    optionalCondition('payment_link_id = ?', filters.paymentLinkId),
    optionalCondition('chain_id = ?', filters.chainId),
    optionalCondition('token_address = ?', filters.tokenAddress),
    optionalCondition('created_at >= ?', filters.from),
    optionalCondition('created_at < ?', filters.to),
  ]);
}

function chosen(wanted: boolean | undefined, ifTrue: string, ifFalse: string): Sql | undefined {
  return wanted === undefined ? undefined : { sql: wanted ? ifTrue : ifFalse, bindings: [] };
}
