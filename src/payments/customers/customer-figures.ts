import { setImmediate } from 'node:timers/promises';
import { exactInteger, uintSumOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { BOUND, type Sql } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import type { Owner } from '../model/owner.ts';
import { allOf } from '../store/list-query.ts';
import { select } from '../tables/select.ts';
import type { SessionRow } from '../tables/session-tables.ts';

/** Confirmed money of a customer's sessions in one token, in its smallest unit. */
interface CustomerTotal {
  readonly chainId: number;
  readonly tokenAddress: string;
  readonly received: bigint;
  readonly refunded: bigint;
}

/** Purchases of a customer. Times are UTC milliseconds; null without a completed session. */
export interface CustomerFigures {
  readonly checkouts: number;
  readonly completed: number;
  readonly firstPurchaseAt: number | null;
  readonly lastPurchaseAt: number | null;
  /** By chain and token. Tokens without money are left out. */
  readonly totals: readonly CustomerTotal[];
}

/** Sessions that one statement adds up, because an SQLite service answers no other request while it runs. */
const SESSIONS_AT_ONCE = 5_000;
/** Customers whose sessions one statement counts. */
const COUNTED_AT_ONCE = 50;

/** Figures of some customers by id. They are of the sessions that are kept. */
export async function customerFigures(
  handle: Handle,
  owner: Owner,
  ids: readonly string[],
): Promise<(id: string) => CustomerFigures> {
  const rows: TokenRow[] = [];
  for await (const part of partsOf(handle, owner, ids)) {
    rows.push(...(await tokenRows(handle, part)));
    await setImmediate();
  }
  const byCustomer = Map.groupBy(rows, row => row.customer_id);
  return id => figuresOf(byCustomer.get(id) ?? []);
}

/** Conditions that each select some of the sessions of these customers, and together all of them once. */
async function* partsOf(handle: Handle, owner: Owner, ids: readonly string[]): AsyncGenerator<Sql> {
  for (let index = 0; index < ids.length; index += COUNTED_AT_ONCE) {
    const counts = await boundedCounts(handle, owner, ids.slice(index, index + COUNTED_AT_ONCE));
    let together: string[] = [];
    let sessions = 0;
    for (const { id, total } of counts) {
      if (total >= SESSIONS_AT_ONCE) {
        yield* partsOfOne(handle, ofCustomers(owner, [id]));
        continue;
      }
      if (sessions + total > SESSIONS_AT_ONCE) {
        yield ofCustomers(owner, together);
        [together, sessions] = [[], 0];
      }
      together.push(id);
      sessions += total;
    }
    if (together.length > 0) yield ofCustomers(owner, together);
  }
}

/** Number of sessions of each of these customers, counted up to those of a part. */
function boundedCounts(handle: Handle, { organizationId, mode }: Owner, ids: readonly string[]) {
  return select({ from: 'customers', columns: ['id'], computed: { total: ['count', BOUNDED_COUNT] } }).rows(
    handle,
    `where id in (${placeholders(ids.length)}) and organization_id = ? and mode = ?`,
    [...ids, organizationId, mode],
  );
}

const BOUNDED_COUNT = `(select count(*) from (
  select 1 from checkout_sessions s
  where s.organization_id = customers.organization_id and s.mode = customers.mode and s.customer_id = customers.id
  limit ${SESSIONS_AT_ONCE}
) as bounded)`;

function ofCustomers({ organizationId, mode }: Owner, ids: readonly string[]): Sql {
  const sql = `organization_id = ? and mode = ? and customer_id in (${placeholders(ids.length)})`;
  return { sql, bindings: [organizationId, mode, ...ids] };
}

/** Parts of the sessions of one customer, the oldest sessions first. */
async function* partsOfOne(handle: Handle, isOwn: Sql): AsyncGenerator<Sql> {
  let last: Position | undefined;
  do {
    const rest = last === undefined ? isOwn : allOf([isOwn, beyond('>', last)]);
    last = await lastOfPart(handle, rest);
    yield last === undefined ? rest : allOf([rest, beyond('<=', last)]);
  } while (last !== undefined);
}

type Position = Pick<SessionRow, 'created_at' | 'id'>;

function beyond(sign: '>' | '<=', { created_at, id }: Position): Sql {
  return { sql: `(created_at, id) ${sign} (?, ?)`, bindings: [created_at, id] };
}

/** The last session of the first part; undefined when the rest is not more than a part. */
async function lastOfPart(handle: Handle, { sql, bindings }: Sql): Promise<Position | undefined> {
  const [last] = await select({ from: 'checkout_sessions', columns: ['created_at', 'id'] }).rows(
    handle,
    `where ${sql} order by created_at, id limit 1 offset ${BOUND}`,
    [...bindings, SESSIONS_AT_ONCE - 1],
  );
  return last;
}

function tokenRows(handle: Handle, { sql, bindings }: Sql) {
  return select({
    from: 'checkout_sessions',
    columns: ['customer_id', 'chain_id', 'token_address'],
    computed: {
      total: ['count', 'count(*)'],
      completed: ['count', 'count(completed_at)'],
      first_at: ['time?', 'min(completed_at)'],
      last_at: ['time?', 'max(completed_at)'],
      received: ['text', handle.dialect.exactSum('amount_received')],
      refunded: ['text', handle.dialect.exactSum('amount_refunded')],
    },
  }).rows(handle, `where ${sql} group by customer_id, chain_id, token_address`, bindings);
}

type TokenRow = Awaited<ReturnType<typeof tokenRows>>[number];

/** Figures of the rows of one customer, of which a token may have several. */
function figuresOf(rows: readonly TokenRow[]): CustomerFigures {
  const sum = (value: (row: TokenRow) => number) =>
    rows.reduce((all, row) => all + exactInteger(value(row)), 0);
  const completions = rows.flatMap(row =>
    row.first_at === null || row.last_at === null ? [] : [row.first_at, row.last_at],
  );
  return {
    checkouts: sum(row => row.total),
    completed: sum(row => row.completed),
    firstPurchaseAt: completions.length === 0 ? null : Math.min(...completions),
    lastPurchaseAt: completions.length === 0 ? null : Math.max(...completions),
    totals: totalsOf(rows),
  };
}

function totalsOf(rows: readonly TokenRow[]): CustomerTotal[] {
  const byToken = new Map<string, CustomerTotal>();
  for (const { chain_id: chainId, token_address: tokenAddress, received, refunded } of rows) {
    const key = `${chainId} ${tokenAddress}`;
    const known = byToken.get(key);
    byToken.set(key, {
      chainId,
      tokenAddress,
      received: (known?.received ?? 0n) + uintSumOf(received),
      refunded: (known?.refunded ?? 0n) + uintSumOf(refunded),
    });
  }
  return [...byToken.values()]
    .filter(({ received }) => received > 0n)
    .sort((one, other) => one.chainId - other.chainId || (one.tokenAddress < other.tokenAddress ? -1 : 1));
}
