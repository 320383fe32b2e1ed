import { setImmediate } from 'node:timers/promises';
import { exactInteger, uintSumOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { BOUND } from '../../db/query.ts';
import { DAY_MS } from '../../lib/clock.ts';
import type { Owner } from '../model/owner.ts';
import { ownedBy } from '../store/list-query.ts';
import { select } from '../tables/select.ts';
import type { CalendarPeriod } from './calendar.ts';

/** Completed payments and refunds in one token. Amounts are in its smallest unit. */
export interface TokenTotal {
  readonly chainId: number;
  readonly tokenAddress: string;
  readonly payments: number;
  readonly received: bigint;
  readonly refunds: number;
  readonly refunded: bigint;
}

/** Totals of a period, ordered by chain and token. */
export interface PeriodTotal extends CalendarPeriod {
  readonly tokens: readonly TokenTotal[];
}

/** A total with the index of its period. */
interface NumberedTotal extends TokenTotal {
  readonly period: number;
}

/** Time that one statement covers, because an SQLite service answers no other request while it runs. */
const READ_MS = 31 * DAY_MS;
/** Time between two moments at which a period may begin: offsets from UTC have been whole quarters of an hour since 1980. */
const QUARTER_MS = 900_000;

/** Adds up an owner's payments and refunds in periods that follow each other (Decision 450). */
export async function paymentTotals(
  handle: Handle,
  owner: Owner,
  periods: readonly CalendarPeriod[],
): Promise<PeriodTotal[]> {
  const totals = await refundTotals(handle, owner, periods);
  for (const run of runsOf(periods)) {
    totals.push(...(await receivedIn(handle, owner, run)));
    await setImmediate();
  }
  const byPeriod = Map.groupBy(totals, ({ period }) => period);
  return periods.map((period, index) => ({ ...period, tokens: added(byPeriod.get(index) ?? []) }));
}

/** Sums of the totals per token, ordered by chain and token. */
export function added(totals: readonly TokenTotal[]): TokenTotal[] {
  const byToken = Map.groupBy(totals, ({ chainId, tokenAddress }) => `${chainId} ${tokenAddress}`);
  return [...byToken.values()]
    .flatMap(([first, ...others]) => (first === undefined ? [] : [others.reduce(sumOf, first)]))
    .sort((one, other) => one.chainId - other.chainId || (one.tokenAddress < other.tokenAddress ? -1 : 1));
}

function sumOf(one: TokenTotal, other: TokenTotal): TokenTotal {
  return {
    chainId: one.chainId,
    tokenAddress: one.tokenAddress,
    payments: one.payments + other.payments,
    received: one.received + other.received,
    refunds: one.refunds + other.refunds,
    refunded: one.refunded + other.refunded,
  };
}

/** Periods of equal length, not empty. `period` is the index of the first. */
interface PeriodRun {
  readonly period: number;
  readonly from: number;
  readonly to: number;
  readonly lengthMs: number;
}

/** Joins periods of equal length, so that one statement reads several. */
function runsOf(periods: readonly CalendarPeriod[]): PeriodRun[] {
  const runs: PeriodRun[] = [];
  for (const [period, { from, to }] of periods.entries()) {
    const last = runs.at(-1);
    const lengthMs = to - from;
    if (lengthMs === 0) continue;
    if (last !== undefined && isNext(last, { period, from, lengthMs }) && to - last.from <= READ_MS)
      runs.splice(-1, 1, { ...last, to });
    else runs.push({ period, from, to, lengthMs });
  }
  return runs;
}

/** True for the period that continues a run. The index of one after an empty period is not that of its time. */
function isNext(last: PeriodRun, { period, from, lengthMs }: Omit<PeriodRun, 'to'>): boolean {
  const count = (last.to - last.from) / last.lengthMs;
  return last.to === from && last.lengthMs === lengthMs && last.period + count === period;
}

async function receivedIn(
  handle: Handle,
  { organizationId, mode }: Owner,
  { period: firstPeriod, from, to, lengthMs }: PeriodRun,
): Promise<NumberedTotal[]> {
  const rows = await select({
    from: 'transactions',
    columns: ['chain_id', 'token_address'],
    computed: {
      period: ['count', `(created_at - ${BOUND}) / ${BOUND}`],
      total: ['count', 'count(*)'],
      volume: ['text', handle.dialect.exactSum('amount')],
    },
  }).rows(
    handle,
    // The index is on days of UTC, so the conditions on them let the query use it.
    `where organization_id = ? and mode = ? and created_at / ${DAY_MS} >= ? and created_at / ${DAY_MS} <= ?
       and created_at >= ? and created_at < ? and status = 'completed'
     group by chain_id, token_address, period`,
    [from, lengthMs, organizationId, mode, Math.floor(from / DAY_MS), Math.floor(to / DAY_MS), from, to],
  );
  return rows.map(row => ({
    period: firstPeriod + exactInteger(row.period),
    chainId: row.chain_id,
    tokenAddress: row.token_address,
    payments: exactInteger(row.total),
    received: uintSumOf(row.volume),
    refunds: 0,
    refunded: 0n,
  }));
}

/**
 * Time at which a refund counts. A refund of an unmatched transfer may be older than the payment that the transfer became,
 * which counts when it was assigned.
 */
const COUNTED_AT = `case when unmatched_transfer_id is null then completed_at else coalesce((
  select t.created_at from transactions t
  where t.id = refunds.transaction_id and t.created_at > refunds.completed_at
), completed_at) end`;

/** Refunds of payments. Those of unmatched transfers that were never assigned are left out, as is their money. */
async function refundTotals(
  handle: Handle,
  owner: Owner,
  periods: readonly CalendarPeriod[],
): Promise<NumberedTotal[]> {
  const { sql, bindings } = ownedBy(owner);
  const [from, to] = [periods.at(0)?.from ?? 0, periods.at(-1)?.to ?? 0];
  const rows = await select({
    from: 'refunds',
    columns: ['chain_id', 'token_address'],
    computed: {
      quarter: ['count', `(${COUNTED_AT}) / ${QUARTER_MS}`],
      total: ['count', 'count(*)'],
      volume: ['text', handle.dialect.exactSum('amount')],
    },
  }).rows(
    handle,
    `where ${sql} and status = 'completed' and session_id is not null and completed_at < ? and ${COUNTED_AT} >= ?
       and ${COUNTED_AT} < ?
     group by chain_id, token_address, quarter`,
    [...bindings, to, from, to],
  );
  return rows.map(row => {
    const time = exactInteger(row.quarter) * QUARTER_MS;
    return {
      period: periods.findLastIndex(one => one.from <= time),
      chainId: row.chain_id,
      tokenAddress: row.token_address,
      payments: 0,
      received: 0n,
      refunds: exactInteger(row.total),
      refunded: uintSumOf(row.volume),
    };
  });
}
