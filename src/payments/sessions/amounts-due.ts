import { randomBytes } from 'node:crypto';
import { type Binding, uintColumn } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { rowsOf, type Sql } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { exactStep, highestAmountDue, isRound } from '../amounts/token-amount.ts';
import type { DepositAddress } from '../model/payment-chain.ts';
import type { SessionRow } from '../tables/session-tables.ts';
import type { SessionDraft } from './opening.ts';
import { bindingsOf, OF_PLACE } from './session-rows.ts';

/** How long an amount stays with a session that expired: a payer who is late by less pays for no other session. */
const KEPT_MS = 3_600_000;

/**
 * Largest tails that are tried before any other, in steps of `exactStep`: 1 % of the price within these two bounds. The
 * greater one is less than a cent of a token with six decimals but dollars of one with eight.
 */
const NEAREST_TAIL = 99n;
const NEAR_TAIL = 9_999n;
/** Attempts in the nearest range. Each later one has a range this many times as large. */
const NEAREST_ATTEMPTS = 3;
const GROWTH = 4n;
/** Attempts after which the amounts of open sessions are read. */
const UNREAD_ATTEMPTS = 9;
/** Amounts of a range that are tried at once, without and with reading those of open sessions. */
const UNREAD_SAMPLES = 2;
const READ_SAMPLES = 16;

/**
 * A random amount due for a session: more than its price, at most by the largest tail, and not round. No open session
 * asks for it, none that expired within the last hour did unless nothing else is free, and it is no price of an open
 * session or an active link of the organization. Undefined when nothing is free. In the first attempts it may be what
 * an open session asks for, which its unique index then refuses. Decision 132.
 *
 * On PostgreSQL a transaction that reads the amounts of open sessions conflicts with every other one that opens a
 * session there at the same time, so the first attempts do not read them. They try the nearest range several times and
 * then larger ones, so that the tail stays in proportion to the number of amounts that are taken.
 */
export async function freeAmount(
  handle: Handle,
  draft: SessionDraft,
  attempt = 0,
): Promise<bigint | undefined> {
  const step = exactStep(draft.tokenDecimals);
  // In steps from here on, of which the first one lies above the price.
  const price = draft.amount / step;
  const range = {
    from: price + 1n,
    to: highestAmountDue(draft.amount, draft.tokenDecimals) / step,
    step,
  };
  if (range.to < range.from) return undefined;
  const nearestTail = atLeast(NEAREST_TAIL, atMost(NEAR_TAIL, price / 100n));
  const unread = unreadRange(range, nearestTail, attempt);
  if (unread !== undefined) {
    const sampling = { range: unread, samples: UNREAD_SAMPLES, sources: priceSources };
    const untried = await sampled(handle, draft, sampling);
    if (untried !== undefined) return untried;
  }
  const ranges = [nearestTail, NEAR_TAIL].map(tail => upTo(range, price + tail));
  for (const tried of distinct([...ranges, range])) {
    const sampling = { range: tried, samples: READ_SAMPLES, sources: openSources };
    const amount = await sampled(handle, draft, sampling);
    if (amount !== undefined) return amount;
  }
  return remaining(handle, draft, range);
}

/**
 * The range of an attempt that reads no amounts of open sessions. Undefined for one that reads them: the last attempts,
 * and those after one that had the whole range.
 */
function unreadRange(range: AmountRange, nearestTail: bigint, attempt: number): AmountRange | undefined {
  const tailOf = (index: number) => nearestTail * GROWTH ** BigInt(Math.max(0, index + 1 - NEAREST_ATTEMPTS));
  const isAllTried = attempt > 0 && tailOf(attempt - 1) > range.to - range.from;
  if (attempt >= UNREAD_ATTEMPTS || isAllTried) return undefined;
  return upTo(range, range.from - 1n + tailOf(attempt));
}

function distinct(ranges: readonly AmountRange[]): AmountRange[] {
  return [...new Map(ranges.map(range => [range.to, range])).values()];
}

/** Exact amounts from the first to the last, both included, counted in steps of so many smallest units. */
interface AmountRange {
  readonly from: bigint;
  readonly to: bigint;
  readonly step: bigint;
}

/** The part of a range that is not above an amount. */
function upTo(range: AmountRange, most: bigint): AmountRange {
  return { ...range, to: atMost(range.to, most) };
}

function atMost(bound: bigint, amount: bigint): bigint {
  return amount < bound ? amount : bound;
}

function atLeast(bound: bigint, amount: bigint): bigint {
  return amount > bound ? amount : bound;
}

interface Sampling {
  readonly range: AmountRange;
  readonly samples: number;
  /** What is taken, beside the amounts of sessions that expired. */
  readonly sources: typeof openSources;
}

/** One of some random amounts of a range that is free. */
async function sampled(
  handle: Handle,
  draft: SessionDraft,
  { range, samples, sources }: Sampling,
): Promise<bigint | undefined> {
  const size = range.to - range.from + 1n;
  const drawn = Array.from({ length: samples }, () => (range.from + randomBelow(size)) * range.step);
  const usable = [...new Set(drawn.filter(amount => !isRound(amount, draft.tokenDecimals)))];
  if (usable.length === 0) return undefined;
  const condition = amongst(usable);
  const taken = await takenAmong(handle, [...sources(draft, condition), expiredSource(draft, condition)]);
  return usable.find(amount => !taken.has(uintColumn(amount)));
}

/** The first free amount of a range from a random one on, found among all that are taken. */
async function remaining(
  handle: Handle,
  draft: SessionDraft,
  range: AmountRange,
): Promise<bigint | undefined> {
  const { from, to, step } = range;
  const bounds = { least: from * step, most: to * step };
  const open = await takenAmong(handle, openSources(draft, within(bounds)));
  const lately = await takenAmong(handle, [expiredSource(draft, within(bounds))]);
  return firstFree(draft, range, open.union(lately)) ?? firstFree(draft, range, open);
}

function firstFree(
  { tokenDecimals }: SessionDraft,
  { from, to, step }: AmountRange,
  taken: ReadonlySet<string>,
): bigint | undefined {
  const size = to - from + 1n;
  const start = randomBelow(size);
  for (let index = 0n; index < size; index++) {
    const amount = (from + ((start + index) % size)) * step;
    if (!isRound(amount, tokenDecimals) && !taken.has(uintColumn(amount))) return amount;
  }
  return undefined;
}

/** The condition on an amount's column, which is SQL. */
type AmountCondition = (column: string) => Sql;

function amongst(amounts: readonly bigint[]): AmountCondition {
  const [only = 0n] = amounts;
  if (amounts.length === 1) return within({ least: only, most: only });
  return column => ({
    sql: `${column} in (${placeholders(amounts.length)})`,
    bindings: amounts.map(uintColumn),
  });
}

/** No equality, even for one amount: put into the condition of a partial index, it would hide that index. */
function within({ least, most }: { least: bigint; most: bigint }): AmountCondition {
  return column => ({
    sql: `${column} >= ? and ${column} <= ?`,
    bindings: [uintColumn(least), uintColumn(most)],
  });
}

/** What is never asked for: what open sessions ask for, and all prices. */
function openSources(draft: SessionDraft, condition: AmountCondition): Sql[] {
  const { sql, bindings } = condition('amount_due');
  const asked = `select amount_due as amount from checkout_sessions
    where status = 'active' and not is_wallet_only and ${OF_PLACE} and ${sql}`;
  return [{ sql: asked, bindings: [...bindingsOf(draft), ...bindings] }, ...priceSources(draft, condition)];
}

function expiredSource(draft: SessionDraft, condition: AmountCondition): Sql {
  const { sql, bindings } = condition('amount_due');
  return {
    sql: `select amount_due as amount from checkout_sessions
      where status = 'expired' and not is_wallet_only and ${OF_PLACE} and ${sql} and ended_at > ?`,
    bindings: [...bindingsOf(draft), ...bindings, draft.createdAt - KEPT_MS],
  };
}

async function takenAmong(handle: Handle, sources: readonly Sql[]): Promise<Set<string>> {
  const sql = sources.map(source => source.sql).join(' union all ');
  const bindings: Binding[] = sources.flatMap(source => [...source.bindings]);
  const rows = await rowsOf<Pick<SessionRow, 'amount'>>(handle, sql, bindings);
  return new Set(rows.map(row => row.amount));
}

/** Unpredictable, so that nobody can be ready for the amount of the next customer. 40 bytes leave no bias that counts. */
function randomBelow(size: bigint): bigint {
  return BigInt(`0x${randomBytes(40).toString('hex')}`) % size;
}

/** A place of one organization. */
export type OwnPlace = DepositAddress & { readonly organizationId: string };

/** Columns of a link that payers send without being asked for it. */
const LINK_PRICES = ['amount', 'min_amount', 'max_amount', 'suggested_amount'] as const;

/**
 * Statements that select, as `amount`, the prices that an organization's open sessions and active links have at a
 * place; of sessions only those that are not round (`isRound`). `condition` narrows a column, which is SQL. Prices of
 * another organization are left out, so that it cannot keep payments from their session.
 */
function priceSources(place: OwnPlace, condition: AmountCondition): Sql[] {
  const select = (table: string, column: string, isOpen: string): Sql => {
    const { sql, bindings } = condition(column);
    return {
      sql: `select ${column} as amount from ${table} where ${isOpen} and ${OF_PLACE} and ${sql} and organization_id = ?`,
      bindings: [...bindingsOf(place), ...bindings, place.organizationId],
    };
  };
  return [
    // As the index has it: the amounts that are compared are never round.
    select('checkout_sessions', 'amount', "status = 'active' and not is_price_round"),
    ...LINK_PRICES.map(column => select('payment_links', column, 'is_active')),
  ];
}

/** True when an open session or an active link of the organization has this price, not a round one, at the place. */
export async function isPrice(handle: Handle, place: OwnPlace, amount: bigint): Promise<boolean> {
  const sources = priceSources(place, within({ least: amount, most: amount }));
  const rows = await rowsOf(
    handle,
    `${sources.map(source => source.sql).join(' union all ')} limit 1`,
    sources.flatMap(source => [...source.bindings]),
  );
  return rows.length > 0;
}
