import { setImmediate } from 'node:timers/promises';
import { exactInteger, uintSumOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { DAY_MS } from '../../lib/clock.ts';
import type { Owner } from '../model/owner.ts';
import type { PaymentLink } from '../model/payment-link.ts';
import type { TransactionStatus } from '../model/payment-transaction.ts';
import type { SessionStatus } from '../model/session.ts';
import { allOf, optionalCondition, ownedBy } from '../store/list-query.ts';
import { select } from '../tables/select.ts';
import type { SessionRow } from '../tables/session-tables.ts';

/** A number of records with the same day, token and status. */
interface TallyGroup<Status> {
  /** Days since 1970, in UTC. */
  readonly day: number;
  readonly chainId: number;
  readonly tokenAddress: string;
  readonly status: Status;
  readonly count: number;
}

/** Number of the sessions of one day, token and status. */
export type SessionTally = TallyGroup<SessionStatus>;

/** Number and sum of the transactions of one day, token and status. */
export interface TransactionTally extends TallyGroup<TransactionStatus> {
  /** In the token's smallest unit. */
  readonly volume: bigint;
}

/** Filters of transactions. `from` (inclusive) and `to` (exclusive) are times of recording in UTC milliseconds. */
export interface TallyFilters {
  readonly chainId?: number | undefined;
  readonly paymentLinkId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Number of records of a day. */
interface CountColumns {
  /** Days since 1970. */
  readonly day: number;
  readonly total: number;
}

const DAY = ['count', `created_at / ${DAY_MS}`] as const;
const COUNT = ['count', 'count(*)'] as const;
const REMOVED = ['count', 'cast(sum(sessions) as bigint)'] as const;

/** Days that one statement of `ownerTallies` covers. */
const DAYS_AT_ONCE = 10;
/** Days before today that are read `DAYS_AT_ONCE` at a time. All earlier days are read as one part. */
const DAYS_IN_PARTS = 90;

/** Days since 1970, from `first` (inclusive) to `end` (exclusive). */
interface DayRange {
  readonly first: number;
  readonly end: number;
}

/**
 * Tallies of an owner since a day. Each statement covers a few days, because an SQLite service answers no other request
 * while a statement runs.
 */
export async function ownerTallies(
  handle: Handle,
  owner: Owner,
  { firstDay, today }: { firstDay: number; today: number },
): Promise<{ sessions: SessionTally[]; transactions: TransactionTally[] }> {
  const sessions: SessionTally[] = [];
  const transactions: TransactionTally[] = [];
  for (const range of parts(firstDay, today)) {
    sessions.push(...(await sessionTallies(handle, owner, range)));
    await setImmediate();
    const times = { from: range.first * DAY_MS, to: range.end * DAY_MS };
    transactions.push(...(await transactionTallies(handle, owner, times)));
    await setImmediate();
  }
  return { sessions, transactions };
}

/** Splits the days into parts. The last part includes tomorrow, because the clocks of several processes differ. */
function parts(firstDay: number, today: number): DayRange[] {
  const ranges: DayRange[] = [];
  for (let end = today + 2; end > firstDay; ) {
    const isOld = end <= today + 1 - DAYS_IN_PARTS;
    const first = isOld ? firstDay : Math.max(firstDay, end - DAYS_AT_ONCE);
    ranges.unshift({ first, end });
    end = first;
  }
  return ranges;
}

/** Tallies of an owner's sessions within the days. Sessions that retention removed count as expired. */
export async function sessionTallies(
  handle: Handle,
  { organizationId, mode }: Owner,
  { first, end }: DayRange,
): Promise<SessionTally[]> {
  // Grouped in the order of the index, which saves a sort.
  const kept = await select({
    from: 'checkout_sessions',
    columns: ['chain_id', 'token_address', 'status'],
    computed: { day: DAY, total: COUNT },
  }).rows(
    handle,
    `where organization_id = ? and mode = ? and created_at / ${DAY_MS} >= ? and created_at / ${DAY_MS} < ?
     group by created_at / ${DAY_MS}, chain_id, token_address, status`,
    [organizationId, mode, first, end],
  );
  const removed = await select({
    from: 'removed_sessions',
    columns: ['day', 'chain_id', 'token_address'],
    computed: { total: REMOVED },
  }).rows(
    handle,
    `where organization_id = ? and mode = ? and day >= ? and day < ? group by day, chain_id, token_address`,
    [organizationId, mode, first, end],
  );
  return [...kept, ...removed.map(expired)].map(row =>
    tallyOf(row, { chainId: row.chain_id, tokenAddress: row.token_address, status: row.status }),
  );
}

/** Tallies of the sessions of a link since a day. */
export async function linkSessionTallies(
  handle: Handle,
  { id, chainId, tokenAddress }: Pick<PaymentLink, 'id' | 'chainId' | 'tokenAddress'>,
  firstDay: number,
): Promise<SessionTally[]> {
  const kept = await select({
    from: 'checkout_sessions',
    columns: ['status'],
    computed: { day: DAY, total: COUNT },
  }).rows(handle, `where payment_link_id = ? and created_at >= ? group by created_at / ${DAY_MS}, status`, [
    id,
    firstDay * DAY_MS,
  ]);
  const removed = await select({
    from: 'removed_sessions',
    columns: ['day'],
    computed: { total: REMOVED },
  }).rows(handle, `where payment_link_id = ? and day >= ? group by day`, [id, firstDay]);
  // A link with sessions cannot change its chain or token (Decision 109).
  return [...kept, ...removed.map(expired)].map(row =>
    tallyOf(row, { chainId, tokenAddress, status: row.status }),
  );
}

/** Tallies of an owner's transactions that match the filters. */
export function transactionTallies(
  handle: Handle,
  owner: Owner,
  { chainId, paymentLinkId, sessionId, from, to }: TallyFilters,
): Promise<TransactionTally[]> {
  const firstDay = from === undefined ? undefined : Math.floor(from / DAY_MS);
  const lastDay = to === undefined ? undefined : Math.floor(to / DAY_MS);
  return talliesWhere(handle, [
    ownedBy(owner),
    // The index is on days, so these conditions let the query use it.
    optionalCondition(`created_at / ${DAY_MS} >= ?`, firstDay),
    optionalCondition(`created_at / ${DAY_MS} <= ?`, lastDay),
    optionalCondition('created_at >= ?', from),
    optionalCondition('created_at < ?', to),
    optionalCondition('chain_id = ?', chainId),
    optionalCondition('payment_link_id = ?', paymentLinkId),
    optionalCondition('session_id = ?', sessionId),
  ]);
}

/** Tallies of the transactions of a link since a day. */
export function linkTransactionTallies(
  handle: Handle,
  linkId: string,
  firstDay: number,
): Promise<TransactionTally[]> {
  return talliesWhere(handle, [
    optionalCondition('payment_link_id = ?', linkId),
    optionalCondition(`created_at / ${DAY_MS} >= ?`, firstDay),
  ]);
}

async function talliesWhere(
  handle: Handle,
  conditions: Parameters<typeof allOf>[0],
): Promise<TransactionTally[]> {
  const where = allOf(conditions);
  const rows = await select({
    from: 'transactions',
    columns: ['chain_id', 'token_address', 'status'],
    computed: { day: DAY, total: COUNT, volume: ['text', handle.dialect.exactSum('amount')] },
  }).rows(
    handle,
    `where ${where.sql}
     group by created_at / ${DAY_MS}, chain_id, token_address, status`,
    where.bindings,
  );
  return rows.map(row => ({
    ...tallyOf(row, { chainId: row.chain_id, tokenAddress: row.token_address, status: row.status }),
    volume: uintSumOf(row.volume),
  }));
}

function expired<Row extends CountColumns>(row: Row): Row & Pick<SessionRow, 'status'> {
  return { ...row, status: 'expired' };
}

function tallyOf<Status>(
  { day, total }: CountColumns,
  group: Pick<TallyGroup<Status>, 'chainId' | 'tokenAddress' | 'status'>,
): TallyGroup<Status> {
  return { ...group, day: exactInteger(day), count: exactInteger(total) };
}

/**
 * Counts unpaid sessions before they are removed, so that the figures still include them. Runs in the transaction that
 * removes them.
 */
export async function noteRemovedSessions(handle: Handle, ids: readonly string[]): Promise<void> {
  await execute(
    handle,
    `insert into removed_sessions
       (organization_id, mode, day, chain_id, token_address, payment_link_id, sessions)
     select organization_id, mode, created_at / ${DAY_MS}, chain_id, token_address, coalesce(payment_link_id, ''), count(*)
     from checkout_sessions where id in (${placeholders(ids.length)})
     group by organization_id, mode, created_at / ${DAY_MS}, chain_id, token_address, coalesce(payment_link_id, '')
     on conflict (organization_id, mode, day, chain_id, token_address, payment_link_id)
       do update set sessions = removed_sessions.sessions + excluded.sessions`,
    ids,
  );
}
