import type { OperationRequest } from '#contract/contracts/operations.ts';
import type { PaymentsOperations, PaymentsSchemas } from '#contract/contracts/payments.ts';
import { timestamp } from '#lib/clock.ts';
import { Unavailable } from '#lib/unavailable.ts';
import { type CustomerFigures, customerFigures } from '../../customers/customer-figures.ts';
import { customerStore } from '../../customers/customer-store.ts';
import type { PaymentChains } from '../../model/payment-chain.ts';
import type { CustomerRecord } from '../../model/session.ts';
import { searchOf } from '../../search/session-search.ts';
import { namedToken } from '../../stats/figures.ts';
import type { ApiHandlers, PaymentsContext } from '../gate/api-context.ts';
import { checkConfirmed } from '../gate/owner-only.ts';
import {
  cursorRefused,
  nullableTimestamp,
  periodOf,
  resourceNotFound,
  sortedList,
} from '../responses/answers.ts';
import { csvExport } from '../responses/csv-export.ts';
import { customerErasures } from './customer-erasure.ts';
import { foundCustomers } from './customer-search.ts';

type Customer = PaymentsSchemas['Customer'];

/** Plain fields of a customer, in the order of its record. */
const COLUMNS = [
  'object',
  'id',
  'mode',
  'email',
  'name',
  'wallet_address',
  'checkouts',
  'completed_checkouts',
  'first_purchase_at',
  'last_purchase_at',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof Customer)[];

/** Time after which a request to erase a customer leaves the rest to retention, in milliseconds. */
const LONGEST_ERASING_MS = 5_000;
const UNIDENTIFIED = 'Checkouts of an earlier version are still being assigned to customers';

/** Most customers of an export. */
const MOST_EXPORTED = 10_000;

/** Operations on customers (Decisions 437 and 438). */
export function customerHandlers(context: PaymentsContext) {
  const { db, seals, chains } = context;
  const found = { handle: db, seals };
  return {
    async listCustomers({ query }, caller) {
      const search = searchOf(query, caller, chains);
      const page = { ...query, sort: 'created_at' } as const;
      const customers = await foundCustomers(found, search, filtersOf(query), page).catch(cursorRefused);
      const figuresOf = await customerFigures(db, caller, idsOf(customers.data));
      const body = sortedList('/api/v1/customers', customers, one =>
        customerBody(one, figuresOf(one.id), chains),
      );
      return { status: 200, body };
    },

    exportCustomers({ query }, caller) {
      const search = searchOf(query, caller, chains);
      const filters = filtersOf(query);
      /** Null after the last page. */
      let cursor: string | null | undefined;
      return csvExport<Customer>({
        records: 'customers',
        columns: COLUMNS,
        mostRows: MOST_EXPORTED,
        count: async () => (await foundCustomers(found, search, filters, { page: 1, limit: 1 })).total,
        async read(limit) {
          if (cursor === null) return [];
          const page = { page: 1, limit, cursor, isCounted: false };
          const { data, next } = await foundCustomers(found, search, filters, page);
          cursor = next;
          const figuresOf = await customerFigures(db, caller, idsOf(data));
          return data.map(one => customerBody(one, figuresOf(one.id), chains));
        },
        cells: customer => COLUMNS.map(name => customer[name]),
      });
    },

    async getCustomer({ path: { customer_id: id } }, caller) {
      const customer = await customerStore(db, seals).find(caller, id);
      if (customer === undefined) throw resourceNotFound('customer', id);
      const figuresOf = await customerFigures(db, caller, [id]);
      return { status: 200, body: customerBody(customer, figuresOf(id), chains) };
    },

    async deleteCustomer({ path: { customer_id: id } }, caller) {
      checkConfirmed(caller);
      const erasures = customerErasures(context);
      if (!(await erasures.isKnown(caller, id))) throw resourceNotFound('customer', id);
      const signal = AbortSignal.timeout(LONGEST_ERASING_MS);
      if (!(await erasures.prepare(caller, signal))) throw new Unavailable(UNIDENTIFIED, signal.reason);
      const answer = await caller.commit(async handle => {
        if (!(await erasures.begin(handle, caller, id))) throw resourceNotFound('customer', id);
        return { status: 200, body: { object: 'customer', id, deleted: true } as const };
      });
      // Retention continues what takes longer.
      await erasures.finish(id, signal);
      return answer;
    },
  } satisfies ApiHandlers;
}

type Query = OperationRequest<PaymentsOperations['exportCustomers']>['query'];

function filtersOf({ paid, ...period }: Omit<Query, 'format'>) {
  return { hasPaid: paid, ...periodOf(period) };
}

function idsOf(customers: readonly CustomerRecord[]): string[] {
  return customers.map(({ id }) => id);
}

function customerBody(
  customer: CustomerRecord,
  { checkouts, completed, firstPurchaseAt, lastPurchaseAt, totals }: CustomerFigures,
  chains: PaymentChains,
): Customer {
  const { id, mode, email, name, walletAddress, createdAt, updatedAt } = customer;
  return {
    object: 'customer',
    id,
    mode,
    email,
    name,
    wallet_address: walletAddress,
    checkouts,
    completed_checkouts: completed,
    first_purchase_at: nullableTimestamp(firstPurchaseAt),
    last_purchase_at: nullableTimestamp(lastPurchaseAt),
    totals: totals.map(({ received, refunded, ...token }) => ({
      ...namedToken(token, chains),
      amount_received: received.toString(),
      amount_refunded: refunded.toString(),
    })),
    created_at: timestamp(createdAt),
    updated_at: timestamp(updatedAt),
  };
}
