import { uintColumn, uintOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';
import { largestTail } from '../amounts/token-amount.ts';
import type { Owner } from '../model/owner.ts';
import type { DepositAddress } from '../model/payment-chain.ts';
import type { SessionRow } from '../tables/session-tables.ts';
import { AT_ADDRESS, bindingsOf } from './session-rows.ts';

/** Most expired sessions of a deposit address that are considered, the latest ended first. */
const MAX_EXPIRED = 1000;

const COLUMNS = ['id', 'status', 'signed_address', 'amount', 'amount_due', 'created_at'] as const;

/** The facts of a transfer that point to the session it may be meant for. Times are UTC milliseconds. */
export interface UnmatchedPayment extends DepositAddress {
  readonly amount: bigint;
  readonly sender: string;
  readonly tokenDecimals: number;
  readonly blockTime: number;
  /** Latest creation time of a candidate. */
  readonly openedBy: number;
  /** Earliest end of an expired candidate. */
  readonly endedAfter: number;
}

/** The id of the first of `candidateSessions`; null for none. */
export async function suggestedSession(
  handle: Handle,
  owner: Owner,
  payment: UnmatchedPayment,
): Promise<string | null> {
  return (await candidateSessions(handle, owner, payment))[0] ?? null;
}

/**
 * The ids of the owner's sessions that a transfer was probably meant for, the best first. The merchant decides about a
 * rounded amount (Decisions 133 and 347). The order of preference is
 * - the price was sent,
 * - the amount due was sent,
 * - the price or the amount due is the nearest one.
 * Among equal candidates, one that was opened before the transfer comes first, then an open one, then one that the
 * sender signed for, then the one opened last.
 */
export async function candidateSessions(
  handle: Handle,
  owner: Owner,
  payment: UnmatchedPayment,
): Promise<string[]> {
  // Opened by someone who saw the transfer, or by a payer whose clock is ahead.
  const isLater = ({ created_at }: NearSession) => created_at > payment.blockTime;
  const worseIf = (is: (session: NearSession) => boolean, a: NearSession, b: NearSession) =>
    Number(is(a)) - Number(is(b));
  return (await sessionsNear(handle, owner, payment))
    .flatMap(session => {
      const rank = rankOf(session, payment);
      return rank === undefined ? [] : [{ session, rank }];
    })
    .toSorted(
      ({ session: a, rank: rankA }, { session: b, rank: rankB }) =>
        compared(rankA, rankB) ||
        worseIf(isLater, a, b) ||
        worseIf(({ status }) => status !== 'active', a, b) ||
        worseIf(({ signed_address }) => signed_address !== payment.sender, a, b) ||
        b.created_at - a.created_at,
    )
    .map(({ session }) => session.id);
}

type NearSession = Pick<SessionRow, (typeof COLUMNS)[number]>;

/** Rank of a candidate: 0 is the best; from 2 on it grows with the distance. Undefined for an impossible one. */
function rankOf(session: NearSession, { amount, tokenDecimals }: UnmatchedPayment): bigint | undefined {
  const [price, due] = [uintOf(session.amount), uintOf(session.amount_due)];
  if (amount === price) return 0n;
  if (amount === due) return 1n;
  const [toPrice, toDue] = [distance(amount, price), distance(amount, due)];
  if (toDue > largestTail(price, tokenDecimals)) return undefined;
  return 2n + (toPrice < toDue ? toPrice : toDue);
}

function distance(a: bigint, b: bigint): bigint {
  return a < b ? b - a : a - b;
}

function compared(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

async function sessionsNear(
  handle: Handle,
  { organizationId, mode }: Owner,
  payment: UnmatchedPayment,
): Promise<NearSession[]> {
  const { amount, tokenDecimals, openedBy, endedAfter } = payment;
  // The tail grows with the price, so the tail for twice the amount is a bound for every session near the amount.
  const reach = largestTail(2n * amount, tokenDecimals);
  const lowest = amount > reach ? amount - reach : 0n;
  const isNear = {
    sql: 'amount_due >= ? and amount_due <= ? and organization_id = ? and mode = ? and created_at <= ?',
    bindings: [uintColumn(lowest), uintColumn(amount + reach), organizationId, mode, openedBy],
  };
  const active = (kind: string) => ({
    sql: `select ${COLUMNS.join(', ')} from checkout_sessions
      where status = 'active' and ${kind} and ${AT_ADDRESS} and ${isNear.sql}`,
    bindings: [...bindingsOf(payment), ...isNear.bindings],
  });
  const expired = (kind: string) => ({
    sql: `select ${COLUMNS.join(', ')} from (
        select * from checkout_sessions
        where status = 'expired' and ${kind} and ${AT_ADDRESS} and ended_at >= ?
        order by ended_at desc limit ${MAX_EXPIRED}
      ) expired where ${isNear.sql}`,
    bindings: [...bindingsOf(payment), endedAfter, ...isNear.bindings],
  });
  // Separate statements, because the indexes by deposit address contain only sessions with an exact amount.
  const sources = [
    active('not is_wallet_only'),
    active('is_wallet_only'),
    expired('not is_wallet_only'),
    expired("is_wallet_only and amount_received = '010'"),
  ];
  return rowsOf<NearSession>(
    handle,
    sources.map(source => source.sql).join(' union all '),
    sources.flatMap(source => source.bindings),
  );
}
