import { randomBytes } from 'node:crypto';
import { uintColumn } from '../../db/columns.ts';
import { placeholders } from '../../db/insert.ts';
import type { Handle } from '../../db/open.ts';
import { type Binding, rowsOf, type Sql } from '../../db/query.ts';
import { highestAmountDue, isRound } from '../model/exact-amount.ts';
import type { SessionDraft } from '../model/opening.ts';
import { bindingsOf, OF_PLACE } from './candidates.ts';
import { priceSources } from './prices.ts';

/** How long an amount stays with a session that expired: a payer who is late by less pays for no other session. */
const KEPT_MS = 3_600_000;

/** Largest tail that is tried first: less than a cent of a token with six decimals. */
const NEAR_TAIL = 9_999n;
/**
 * Amounts that are tried at once, first near the price and then in the whole range. The first statement reads little:
 * on PostgreSQL every amount that a transaction reads is one more that another session can conflict with.
 */
const NEAR_SAMPLES = 2;
const FAR_SAMPLES = 16;

/**
 * A random amount due for a session: more than its price, at most by the largest tail, and not round. No open session
 * asks for it, none that expired within the last hour did unless nothing else is free, and it is no price of an open
 * session or an active link of the organization. Undefined when nothing is free. Decision 132.
 */
export async function freeAmount(handle: Handle, draft: SessionDraft): Promise<bigint | undefined> {
  const range = { from: draft.amount + 1n, to: highestAmountDue(draft.amount, draft.tokenDecimals) };
  if (range.to < range.from) return undefined;
  const nearest = draft.amount + NEAR_TAIL;
  const near = { from: range.from, to: nearest < range.to ? nearest : range.to };
  return (
    (await sampled(handle, draft, { range: near, samples: NEAR_SAMPLES })) ??
    (await sampled(handle, draft, { range: near, samples: FAR_SAMPLES })) ??
    (await sampled(handle, draft, { range, samples: FAR_SAMPLES })) ??
    (await remaining(handle, draft, range))
  );
}

/** Amounts from the first to the last, both included. */
interface AmountRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** One of some random amounts of a range that is free. */
async function sampled(
  handle: Handle,
  draft: SessionDraft,
  { range, samples }: { range: AmountRange; samples: number },
): Promise<bigint | undefined> {
  const size = range.to - range.from + 1n;
  const drawn = Array.from({ length: samples }, () => range.from + randomBelow(size));
  const usable = [...new Set(drawn.filter(amount => !isRound(amount)))];
  if (usable.length === 0) return undefined;
  const taken = await takenAmong(handle, [
    ...openSources(draft, amongst(usable)),
    expiredSource(draft, amongst(usable)),
  ]);
  return usable.find(amount => !taken.has(uintColumn(amount)));
}

/** The first free amount of a range from a random one on, found among all that are taken. */
async function remaining(
  handle: Handle,
  draft: SessionDraft,
  range: AmountRange,
): Promise<bigint | undefined> {
  const open = await takenAmong(handle, openSources(draft, within(range)));
  const lately = await takenAmong(handle, [expiredSource(draft, within(range))]);
  return firstFree(range, open.union(lately)) ?? firstFree(range, open);
}

function firstFree({ from, to }: AmountRange, taken: ReadonlySet<string>): bigint | undefined {
  const size = to - from + 1n;
  const start = randomBelow(size);
  for (let step = 0n; step < size; step++) {
    const amount = from + ((start + step) % size);
    if (!isRound(amount) && !taken.has(uintColumn(amount))) return amount;
  }
  return undefined;
}

/** The condition on an amount's column, which is SQL. */
type AmountCondition = (column: string) => Sql;

function amongst(amounts: readonly bigint[]): AmountCondition {
  return column => ({
    sql: `${column} in (${placeholders(amounts.length)})`,
    bindings: amounts.map(uintColumn),
  });
}

function within({ from, to }: AmountRange): AmountCondition {
  return column => ({
    sql: `${column} >= ? and ${column} <= ?`,
    bindings: [uintColumn(from), uintColumn(to)],
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
  const rows = await rowsOf<{ amount: string }>(handle, sql, bindings);
  return new Set(rows.map(row => row.amount));
}

/** Unpredictable, so that nobody can be ready for the amount of the next customer. 40 bytes leave no bias that counts. */
function randomBelow(size: bigint): bigint {
  return BigInt(`0x${randomBytes(40).toString('hex')}`) % size;
}
