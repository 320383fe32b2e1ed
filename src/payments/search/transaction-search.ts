import { type Binding, uintColumn } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { placeholders } from '../../db/rows.ts';
import { customerStore } from '../customers/customer-store.ts';
import type { Owner } from '../model/owner.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { Seals } from '../secrets/sealed.ts';
import { allOf } from '../store/list-query.ts';
import { transactionForm } from '../store/transaction-rows.ts';
import { filteredTransactions, type TransactionFilters } from '../store/transaction-store.ts';
import { select } from '../tables/select.ts';
import type { SearchText } from './search-text.ts';
import {
  AT_HASH,
  few,
  HAS_OTHER_SIGNER,
  HAS_REFERENCE,
  linkMeanings,
  type Search,
} from './session-search.ts';
import { type Meaning, type SortedPage, type SortedPageRequest, sortedPage } from './sorted-page.ts';

/** Transactions that a text finds and that match every filter (Decision 430). @throws CursorFault */
export async function foundTransactions(
  { handle, seals }: { readonly handle: Handle; readonly seals: Seals },
  { owner, text, customerId }: Search,
  filters: TransactionFilters,
  page: SortedPageRequest,
): Promise<SortedPage<PaymentTransaction>> {
  const customer = customerId === undefined ? undefined : ofCustomer(owner, customerId);
  const listed = {
    table: 'transactions',
    selection: TRANSACTIONS,
    owner,
    filters: allOf([filteredTransactions(filters), text && customer]),
    found: text ? await meanings({ handle, seals }, owner, text) : customer && [customer],
  } as const;
  return sortedPage(handle, listed, page, transactionForm.recordOf);
}

const TRANSACTIONS = select({ from: 'transactions', columns: ['*'] });

async function meanings(
  { handle, seals }: { readonly handle: Handle; readonly seals: Seals },
  owner: Owner,
  text: SearchText,
): Promise<Meaning[]> {
  switch (text.kind) {
    case 'session':
      return [few('session_id = ?', text.id)];
    case 'transaction':
      return [few('id = ?', text.id)];
    case 'link':
      return [{ sql: 'payment_link_id = ?', bindings: [text.id] }];
    case 'customer':
      return [ofCustomer(owner, text.id)];
    case 'refund':
      return [few('session_id in (select session_id from refunds where id = ?)', text.id)];
    case 'transfer':
      return [few('id in (select transaction_id from unmatched_transfers where id = ?)', text.id)];
    case 'hash':
      return [
        few(AT_HASH, text.hash),
        few('session_id in (select session_id from refunds where tx_hash = ?)', text.hash),
      ];
    case 'address':
      return [
        { sql: 'sender = ?', bindings: [text.address] },
        ofSessions('deposit_address = ?', text.address),
        ofOwnSessions(owner, HAS_OTHER_SIGNER, text.address),
      ];
    case 'email': {
      const customerId = await customerStore(handle, seals).idByEmail(owner, text.email);
      return customerId === undefined ? [] : [ofCustomer(owner, customerId)];
    }
    case 'text':
      return [
        ofOwnSessions(owner, HAS_REFERENCE, text.text),
        ...(await linkMeanings(handle, owner, text.text)),
        ...text.amounts.map(({ units, tokens }) => ({
          sql: `amount = ? and token_address in (${placeholders(tokens.length)})`,
          bindings: [uintColumn(units), ...tokens],
        })),
      ];
  }
}

function ofCustomer(owner: Owner, id: string): Meaning {
  return ofOwnSessions(owner, 'customer_id = ?', id);
}

function ofOwnSessions({ organizationId, mode }: Owner, condition: string, text: string): Meaning {
  return ofSessions(`organization_id = ? and mode = ? and ${condition}`, organizationId, mode, text);
}

/** Condition for the transactions of few sessions. */
function ofSessions(condition: string, ...bindings: readonly Binding[]): Meaning {
  return few(`session_id in (select id from checkout_sessions where ${condition})`, ...bindings);
}
