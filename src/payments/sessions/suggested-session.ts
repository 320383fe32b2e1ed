import { uintColumn, uintOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { rowsOf, type Sql } from '../../db/query.ts';
import { LARGEST_AMOUNT, largestTail } from '../amounts/token-amount.ts';
import type { Owner } from '../model/owner.ts';
import type { PaidAddress } from '../model/payment-chain.ts';
import { isTolerated } from '../model/session.ts';
import type { SessionRow } from '../tables/session-tables.ts';
import { AT_ADDRESS, bindingsOf } from './session-rows.ts';

/** Most expired sessions of a paid address that are considered, the latest ended first. */
const MAX_EXPIRED = 1000;

const COLUMNS = [
  'id',
  'status',
  'signed_address',
  'amount',
  'amount_due',
  'tolerance_bps',
  'created_at',
] as const;

/** The facts of a transfer that point to the session it may be meant for. Times are UTC milliseconds. */
export interface UnmatchedPayment extends PaidAddress {
  readonly amount: bigint;
  readonly sender: string;
  readonly tokenDecimals: number;
  readonly blockTime: number;
  /** Latest creation time of a candidate. */
  readonly openedBy: number;
  /** Earliest end of an expired candidate. */
  readonly endedAfter: number;
}

/** The sessions that a transfer was probably meant for. */
export interface LikelySessions {
  /** The session that is suggested to the merchant; null for none. */
  readonly suggestedSessionId: string | null;
  /** Sessions whose payers see the transfer, the likeliest first (Decision 342). */
  readonly candidates: readonly string[];
}

/** Precision of the time of a block, which is the beginning of its second. */
const BLOCK_SECOND_MS = 1_000;

/** Most sessions that one transfer may be told to. */
const MAX_CANDIDATES = 20;

/**
 * The session that is suggested for a transfer, and the sessions whose payers see it. If no session is near its
 * amount, the only one that was open then is a candidate, but no suggestion.
 */
export async function likelySessions(
  handle: Handle,
  owner: Owner,
  payment: UnmatchedPayment,
): Promise<LikelySessions> {
  const near = await nearSessions(handle, owner, payment);
  const shown =
    near.length === 0
      ? await onlyOpenThen(handle, owner, payment)
      : near.filter(({ amount }) => isShownToPayer(payment.amount, uintOf(amount)));
  return {
    suggestedSessionId: near[0]?.id ?? null,
    candidates: shown.slice(0, MAX_CANDIDATES).map(({ id }) => id),
  };
}

/**
 * The ids of the sessions that the merchant may choose for a transfer, the best first. Its payer reads of the only one that
 * was open then, so the merchant does, too.
 */
export async function candidateSessions(
  handle: Handle,
  owner: Owner,
  payment: UnmatchedPayment,
): Promise<string[]> {
  const near = await nearSessions(handle, owner, payment);
  const found = near.length === 0 ? await onlyOpenThen(handle, owner, payment) : near;
  return found.map(({ id }) => id);
}

/**
 * The owner's sessions that a transfer was probably meant for, the best first. The merchant decides about a rounded
 * amount (Decisions 133 and 347). The order of preference is
 * - the price was sent,
 * - the amount due was sent,
 * - the price is the nearest one that is paid within its tolerance,
 * - the price or the amount due is the nearest one.
 * Among equal candidates, one that was opened before the end of the transfer's second comes first, then an open one, then
 * one that the sender signed for, then one opened before that second, then the one opened last.
 */
async function nearSessions(handle: Handle, owner: Owner, payment: UnmatchedPayment): Promise<NearSession[]> {
  // Opened by someone who saw the transfer, or by a payer whose clock is ahead.
  const isLater = ({ created_at }: NearSession) => created_at >= payment.blockTime + BLOCK_SECOND_MS;
  const isPerhapsLater = ({ created_at }: NearSession) => created_at > payment.blockTime;
  const worseIf = (is: (session: NearSession) => boolean, a: NearSession, b: NearSession) =>
    Number(is(a)) - Number(is(b));
  return (await sessionsNear(handle, owner, payment))
    .flatMap(session => {
      const rank = rankOf(session, payment);
      return rank === undefined ? [] : [{ session, rank }];
    })
    .toSorted(
      ({ session: a, rank: rankA }, { session: b, rank: rankB }) =>
        compared(rankA[0], rankB[0]) ||
        compared(rankA[1], rankB[1]) ||
        worseIf(isLater, a, b) ||
        worseIf(({ status }) => status !== 'active', a, b) ||
        worseIf(({ signed_address }) => signed_address !== payment.sender, a, b) ||
        worseIf(isPerhapsLater, a, b) ||
        b.created_at - a.created_at,
    )
    .map(({ session }) => session);
}

/** Least share of the price that a payer sees: a tenth, so that a stranger cannot fill the page for nothing. */
const LEAST_SHARE = 10n;
/** Largest unknown transfer that a payer sees, in amounts due: a payer may send the exact amount twice at once. */
const MOST_DUE = 2n;
/** Largest tolerance, in hundredths of a percent. Source: `payment_tolerance` of the contract. */
const MOST_BPS = 1_000n;

/** True when a transfer is large enough for the payer of a price to be told of it. */
export function isShownToPayer(amount: bigint, price: bigint): boolean {
  return amount * LEAST_SHARE >= price;
}

type NearSession = Pick<SessionRow, (typeof COLUMNS)[number]>;

/** Kind of fit of a candidate, the best first, and within a kind the distance. Undefined for an impossible one. */
function rankOf(
  session: NearSession,
  { amount, tokenDecimals }: UnmatchedPayment,
): readonly [kind: bigint, distance: bigint] | undefined {
  const [price, due] = [uintOf(session.amount), uintOf(session.amount_due)];
  if (amount === price) return [0n, 0n];
  if (amount === due) return [1n, 0n];
  const [toPrice, toDue] = [distance(amount, price), distance(amount, due)];
  if (isTolerated({ amount: price, toleranceBps: session.tolerance_bps }, amount)) return [2n, toPrice];
  if (toDue > largestTail(price, tokenDecimals)) return undefined;
  return [3n, toPrice < toDue ? toPrice : toDue];
}

function distance(a: bigint, b: bigint): bigint {
  return a < b ? b - a : a - b;
}

function atMost(most: bigint, amount: bigint): bigint {
  return amount < most ? amount : most;
}

function compared(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function sessionsNear(handle: Handle, owner: Owner, payment: UnmatchedPayment): Promise<NearSession[]> {
  const { amount, tokenDecimals, endedAfter } = payment;
  // The tail grows with the price, so the tail for twice the amount is a bound for every session near the amount.
  const reach = largestTail(2n * amount, tokenDecimals);
  const lowest = amount > reach ? amount - reach : 0n;
  // Most of the sessions above have no tolerance. They are left out before they are sorted.
  const tolerated = uintColumn(atMost(LARGEST_AMOUNT, (amount * 10_000n) / (10_000n - MOST_BPS) + reach));
  const isNear = {
    sql: 'amount_due >= ? and amount_due <= ? and (amount_due <= ? or tolerance_bps > 0)',
    bindings: [uintColumn(lowest), tolerated, uintColumn(atMost(LARGEST_AMOUNT, amount + reach))],
  };
  return sessionsOf(handle, owner, payment, { ...isNear, endedAfter });
}

/** The session that was open when the transfer was made, of a price that it may have paid in part or twice, if just one was. */
async function onlyOpenThen(handle: Handle, owner: Owner, payment: UnmatchedPayment): Promise<NearSession[]> {
  const { amount, blockTime } = payment;
  const highest = atMost(LARGEST_AMOUNT, amount * LEAST_SHARE);
  const isPossible = {
    sql: 'amount_due >= ? and amount <= ?',
    bindings: [uintColumn((amount + MOST_DUE - 1n) / MOST_DUE), uintColumn(highest)],
  };
  const open = await sessionsOf(handle, owner, payment, { ...isPossible, endedAfter: blockTime });
  return open.length === 1 ? open : [];
}

/** Open and expired sessions of an owner at the transfer's paid address that meet a condition. */
function sessionsOf(
  handle: Handle,
  { organizationId, mode }: Owner,
  payment: UnmatchedPayment,
  condition: Sql & { readonly endedAfter: number },
): Promise<NearSession[]> {
  const isMeant = {
    sql: `${condition.sql} and organization_id = ? and mode = ? and created_at <= ?`,
    bindings: [...condition.bindings, organizationId, mode, payment.openedBy],
  };
  const active = (kind: string) => ({
    sql: `select ${COLUMNS.join(', ')} from checkout_sessions
      where status = 'active' and ${kind} and ${AT_ADDRESS} and ${isMeant.sql}`,
    bindings: [...bindingsOf(payment), ...isMeant.bindings],
  });
  const expired = (kind: string) => ({
    sql: `select ${COLUMNS.join(', ')} from (
        select * from checkout_sessions
        where status = 'expired' and ${kind} and ${AT_ADDRESS} and ended_at >= ?
        order by ended_at desc limit ${MAX_EXPIRED}
      ) expired where ${isMeant.sql}`,
    bindings: [...bindingsOf(payment), condition.endedAfter, ...isMeant.bindings],
  });
  // Separate statements, because the indexes by paid address contain only sessions with an exact amount.
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
