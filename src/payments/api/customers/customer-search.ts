import type { Handle } from '#db/open.ts';
import { customerOf, customerRows } from '../../customers/customer-rows.ts';
import { customerStore } from '../../customers/customer-store.ts';
import type { Owner } from '../../model/owner.ts';
import type { CustomerRecord } from '../../model/session.ts';
import type { SearchText } from '../../search/search-text.ts';
import { few, HAS_OTHER_SIGNER, type Search } from '../../search/session-search.ts';
import {
  type Meaning,
  type SortedPage,
  type SortedPageRequest,
  sortedPage,
} from '../../search/sorted-page.ts';
import type { Seals } from '../../secrets/sealed.ts';
import { allOf, optionalCondition } from '../../store/list-query.ts';

/** Filters of a list of customers. `from` (inclusive) and `to` (exclusive) are creation times in UTC milliseconds. */
export interface CustomerFilters {
  /** True for customers with a completed session. */
  readonly hasPaid?: boolean | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Customers that a text finds and that match every filter (Decision 438). @throws CursorFault */
export async function foundCustomers(
  { handle, seals }: { readonly handle: Handle; readonly seals: Seals },
  { owner, text }: Pick<Search, 'owner' | 'text'>,
  { hasPaid, from, to }: CustomerFilters,
  page: SortedPageRequest,
): Promise<SortedPage<CustomerRecord>> {
  const filters = allOf([
    hasPaid === undefined
      ? undefined
      : { sql: hasPaid ? 'last_purchase_at is not null' : 'last_purchase_at is null', bindings: [] },
    optionalCondition('created_at >= ?', from),
    optionalCondition('created_at < ?', to),
  ]);
  const found = text && (await meanings({ handle, seals }, owner, text));
  const listed = { table: 'customers', selection: customerRows, owner, filters, found } as const;
  return sortedPage(handle, listed, page, row => customerOf(row, seals));
}

/** No other text means a customer, because names are encrypted. */
async function meanings(
  { handle, seals }: { readonly handle: Handle; readonly seals: Seals },
  owner: Owner,
  text: SearchText,
): Promise<Meaning[]> {
  switch (text.kind) {
    case 'customer':
      return [few('id = ?', text.id)];
    case 'email': {
      const id = await customerStore(handle, seals).idByEmail(owner, text.email);
      return id === undefined ? [] : [few('id = ?', id)];
    }
    case 'address':
      return [
        { sql: 'wallet_address = ?', bindings: [text.address] },
        few(ofSessions('payer_address = ?'), owner.organizationId, owner.mode, text.address),
        few(ofSessions(HAS_OTHER_SIGNER), owner.organizationId, owner.mode, text.address),
      ];
    default:
      return [];
  }
}

/** Condition for the customers of an owner's sessions. */
function ofSessions(condition: string): string {
  return `id in (select customer_id from checkout_sessions where organization_id = ? and mode = ? and ${condition})`;
}
