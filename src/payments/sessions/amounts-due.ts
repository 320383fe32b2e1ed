import { randomBytes } from 'node:crypto';
import { type Binding, uintColumn } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import type { Sql } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { exactStep, highestAmountDue, isRound } from '../amounts/token-amount.ts';
import type { PaidAddress } from '../model/payment-chain.ts';
import { select } from '../tables/select.ts';
import type { SessionDraft } from './opening.ts';
import { AT_ADDRESS, bindingsOf } from './session-rows.ts';

/**
 * Time in which the amount of an expired session is used again only when no other amount is free. A late payer could
 * otherwise pay another session.
 */
const KEPT_MS = 3_600_000;

/**
 * Bounds of the largest tail that is tried first, in steps of `exactStep`; between them it is 1 % of the price. A tail
 * is the part of an amount due above the price. For a stablecoin with six decimals, the upper bound is less than a
 * cent. For a token with eight, such as bitcoin, it is worth dollars.
 */
const NEAREST_TAIL = 99n;
const NEAR_TAIL = 9_999n;
/** Attempts in the nearest range. Each later one has a range this many times as large. */
const NEAREST_ATTEMPTS = 3;
const GROWTH = 4n;
/** Attempts after which the amounts of open sessions are read. */
const UNREAD_ATTEMPTS = 9;
/** Random amounts per attempt: without reading the amounts of open sessions, and with reading them. */
const UNREAD_SAMPLES = 2;
const READ_SAMPLES = 16;
/** Draws for each sample: one of ten amounts is round, and a range can be smaller than the samples. */
const DRAWS = 8;

/**
 * A random amount due for a session: above its price by at most the largest tail, and not round. Each open session asks
 * for an amount of its own (Decision 132). The amount is also no price of an open session or an active link of the
 * organization. Amounts of sessions that expired within the last hour are used last. Undefined when no amount is free.
 *
 * On PostgreSQL, transactions that read the amounts of open sessions conflict with each other when they open sessions
 * for the same recipient at the same time. So the first attempts do not read them and may return a taken amount, which
 * the unique index then refuses. They try the nearest range several times and then larger ones, so that the tail stays
 * in proportion to the number of taken amounts. Attempts count from 0.
 */
export async function freeAmount(
  handle: Handle,
  draft: SessionDraft,
  attempt: number,
): Promise<bigint | undefined> {
  const step = exactStep(draft.tokenDecimals);
  // From here on amounts are counted in steps. The range begins above the price.
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
 * The range of an attempt that does not read the amounts of open sessions. Undefined for an attempt that reads them:
 * the last ones, and those after an attempt with the whole range.
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

/** Exact amounts, inclusive at both ends. They are counted in steps of `step` smallest units. */
interface AmountRange {
  readonly from: bigint;
  readonly to: bigint;
  readonly step: bigint;
}

/** The part of a range up to an amount. */
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
  /** Taken amounts, besides those of expired sessions. */
  readonly sources: typeof openSources;
}

/** The first free amount among some random ones of a range. */
async function sampled(
  handle: Handle,
  draft: SessionDraft,
  { range, samples, sources }: Sampling,
): Promise<bigint | undefined> {
  const size = range.to - range.from + 1n;
  const drawn = new Set<bigint>();
  for (let draw = 0; draw < DRAWS * samples && drawn.size < samples; draw++) {
    const amount = (range.from + randomBelow(size)) * range.step;
    if (!isRound(amount, draft.tokenDecimals)) drawn.add(amount);
  }
  if (drawn.size === 0) return undefined;
  const usable = [...drawn];
  const condition = amongst(usable);
  const taken = await takenAmong(handle, [...sources(draft, condition), expiredSource(draft, condition)]);
  return usable.find(amount => !taken.has(uintColumn(amount)));
}

/** The first free amount after a random start in the range. Reads all taken amounts of the range. */
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

/** A condition on an amount column. The column name is SQL, not input. */
type AmountCondition = (column: string) => Sql;

function amongst(amounts: readonly bigint[]): AmountCondition {
  const [only = 0n] = amounts;
  if (amounts.length === 1) return within({ least: only, most: only });
  return column => ({
    sql: `${column} in (${placeholders(amounts.length)})`,
    bindings: amounts.map(uintColumn),
  });
}

/** A range even for a single amount: the databases would not use the partial index for an equality. */
function within({ least, most }: { least: bigint; most: bigint }): AmountCondition {
  return column => ({
    sql: `${column} >= ? and ${column} <= ?`,
    bindings: [uintColumn(least), uintColumn(most)],
  });
}

/** Amounts that are never used: the amounts due of open sessions, and all prices. */
function openSources(draft: SessionDraft, condition: AmountCondition): Sql[] {
  const { sql, bindings } = condition('amount_due');
  const asked = `select amount_due as amount from checkout_sessions
    where status = 'active' and not is_wallet_only and ${AT_ADDRESS} and ${sql}`;
  return [{ sql: asked, bindings: [...bindingsOf(draft), ...bindings] }, ...priceSources(draft, condition)];
}

function expiredSource(draft: SessionDraft, condition: AmountCondition): Sql {
  const { sql, bindings } = condition('amount_due');
  return {
    sql: `select amount_due as amount from checkout_sessions
      where status = 'expired' and not is_wallet_only and ${AT_ADDRESS} and ${sql} and ended_at > ?`,
    bindings: [...bindingsOf(draft), ...bindings, draft.createdAt - KEPT_MS],
  };
}

const TAKEN = select({ computed: { amount: ['text', 'amount'] } });

async function takenAmong(handle: Handle, sources: readonly Sql[]): Promise<Set<string>> {
  const sql = sources.map(source => source.sql).join(' union all ');
  const bindings: Binding[] = sources.flatMap(source => [...source.bindings]);
  const rows = await TAKEN.rows(handle, `from (${sql}) as taken`, bindings);
  return new Set(rows.map(row => row.amount));
}

/**
 * A cryptographic random number, so that the next customer's amount is unpredictable. 40 bytes leave no relevant bias.
 */
function randomBelow(size: bigint): bigint {
  return BigInt(`0x${randomBytes(40).toString('hex')}`) % size;
}

/** A paid address of one organization. */
type OwnedPaidAddress = PaidAddress & { readonly organizationId: string };

/** Columns of a link with amounts that payers send without the tail. */
const LINK_PRICES = ['amount', 'min_amount', 'max_amount', 'suggested_amount'] as const;

/**
 * Statements that select the prices of an organization's open sessions and active links at a paid address, as
 * `amount`. Round prices (`isRound`) of sessions are left out. So are prices of other organizations, which could
 * otherwise keep payments from their session.
 */
function priceSources(address: OwnedPaidAddress, condition: AmountCondition): Sql[] {
  const select = (table: string, column: string, isOpen: string): Sql => {
    const { sql, bindings } = condition(column);
    return {
      sql: `select ${column} as amount from ${table} where ${isOpen} and ${AT_ADDRESS} and ${sql} and organization_id = ?`,
      bindings: [...bindingsOf(address), ...bindings, address.organizationId],
    };
  };
  return [
    // The condition of the partial index. The amounts compared are never round, so no price is missed.
    select('checkout_sessions', 'amount', "status = 'active' and not is_price_round"),
    ...LINK_PRICES.map(column => select('payment_links', column, 'is_active')),
  ];
}
