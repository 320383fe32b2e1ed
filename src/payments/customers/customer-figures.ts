import { exactInteger, uintSumOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { placeholders } from '../../db/rows.ts';
import type { Owner } from '../model/owner.ts';
import { select } from '../tables/select.ts';

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

/** Figures of some customers by id, in one statement. They are of the sessions that are kept. */
export async function customerFigures(
  handle: Handle,
  { organizationId, mode }: Owner,
  ids: readonly string[],
): Promise<(id: string) => CustomerFigures> {
  const rows = ids.length === 0 ? [] : await tokenRows();
  const byCustomer = Map.groupBy(rows, row => row.customer_id);
  return id => figuresOf(byCustomer.get(id) ?? []);

  function tokenRows() {
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
    }).rows(
      handle,
      `where organization_id = ? and mode = ? and customer_id in (${placeholders(ids.length)})
       group by customer_id, chain_id, token_address order by chain_id, token_address`,
      [organizationId, mode, ...ids],
    );
  }
}

interface TokenRow {
  chain_id: number;
  token_address: string;
  total: number;
  completed: number;
  first_at: number | null;
  last_at: number | null;
  received: string;
  refunded: string;
}

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
    totals: rows
      .map(row => ({
        chainId: row.chain_id,
        tokenAddress: row.token_address,
        received: uintSumOf(row.received),
        refunded: uintSumOf(row.refunded),
      }))
      .filter(({ received }) => received > 0n),
  };
}
