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

const COLUMNS = ['id', 'amount', 'amount_due', 'created_at'] as const;

/** The facts of a transfer that point to the session it may be meant for. Times are UTC milliseconds. */
export interface UnmatchedPayment extends DepositAddress {
  readonly amount: bigint;
  readonly tokenDecimals: number;
  readonly blockTime: number;
  /** Latest creation time of a candidate. */
  readonly openedBy: number;
  /** Earliest end of an expired candidate. */
  readonly endedAfter: number;
}

/**
 * The id of the owner's session that a transfer was probably meant for; null for none. The merchant decides about a
 * rounded amount (Decision 133). The order of preference is
 * - the price was sent,
 * - the amount due was sent,
 * - the price or the amount due is the nearest one.
 * Among equal candidates, the one opened last before the transfer comes first.
 */
export async function suggestedSession(
  handle: Handle,
  owner: Owner,
  payment: UnmatchedPayment,
): Promise<string | null> {
  // Opened by someone who saw the transfer, or by a payer whose clock is ahead.
  const isLater = ({ created_at }: NearSession) => created_at > payment.blockTime;
  const near = (await sessionsNear(handle, owner, payment))
    .map(session => ({ session, rank: rankOf(session, payment) }))
    .filter(({ rank }) => rank !== undefined)
    .toSorted(
      (a, b) =>
        compared(a.rank ?? 0n, b.rank ?? 0n) ||
        Number(isLater(a.session)) - Number(isLater(b.session)) ||
        b.session.created_at - a.session.created_at,
    );
  return near[0]?.session.id ?? null;
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
