import { type Binding, uintColumn } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { placeholders } from '../../db/rows.ts';
import { customerStore } from '../customers/customer-store.ts';
import type { Owner } from '../model/owner.ts';
import type { UnmatchedTransfer } from '../model/transfer.ts';
import type { Seals } from '../secrets/sealed.ts';
import { filteredTransfers, type TransferFilters, transferForm } from '../store/transfer-store.ts';
import { select } from '../tables/select.ts';
import type { SearchText } from './search-text.ts';
import { AT_HASH, few, HAS_REFERENCE, linkMeanings, type Search } from './session-search.ts';
import { type Meaning, type SortedPage, type SortedPageRequest, sortedPage } from './sorted-page.ts';

/** Unmatched transfers that a text finds and that match every filter (Decision 430). @throws CursorFault */
export async function foundTransfers(
  { handle, seals }: { readonly handle: Handle; readonly seals: Seals },
  { owner, text }: Search,
  filters: TransferFilters,
  page: SortedPageRequest,
): Promise<SortedPage<UnmatchedTransfer>> {
  const found = text && (await meanings({ handle, seals }, owner, text));
  const filtered = { filters: filteredTransfers(filters), found };
  const listed = { table: 'unmatched_transfers', selection: TRANSFERS, owner, ...filtered } as const;
  return sortedPage(handle, listed, page, transferForm.recordOf);
}

const TRANSFERS = select({ from: 'unmatched_transfers', columns: ['*'] });

async function meanings(
  { handle, seals }: { readonly handle: Handle; readonly seals: Seals },
  owner: Owner,
  text: SearchText,
): Promise<Meaning[]> {
  switch (text.kind) {
    case 'transfer':
      return [few('id = ?', text.id)];
    case 'session':
      return ofSessions('select cast(? as text)', text.id);
    case 'transaction':
      return [{ sql: 'transaction_id = ?', bindings: [text.id] }];
    case 'refund':
      return [few('id in (select unmatched_transfer_id from refunds where id = ?)', text.id)];
    case 'link':
      return ofOwnSessions(owner, 'payment_link_id = ?', text.id);
    case 'customer':
      return ofOwnSessions(owner, 'customer_id = ?', text.id);
    case 'hash':
      return [few(AT_HASH, text.hash)];
    case 'address':
      return [
        { sql: 'sender = ?', bindings: [text.address] },
        { sql: 'recipient = ?', bindings: [text.address] },
      ];
    case 'email': {
      const id = await customerStore(handle, seals).idByEmail(owner, text.email);
      return id === undefined ? [] : ofOwnSessions(owner, 'customer_id = ?', id);
    }
    case 'text': {
      const ofLinks = await linkMeanings(handle, owner, text.text);
      return [
        ...ofOwnSessions(owner, HAS_REFERENCE, text.text),
        ...ofLinks.flatMap(({ sql, bindings }) => ofOwnSessions(owner, sql, ...bindings)),
        ...text.amounts.map(({ units, tokens }) => ({
          sql: `amount = ? and token_address in (${placeholders(tokens.length)})`,
          bindings: [uintColumn(units), ...tokens],
        })),
      ];
    }
  }
}

/** Condition for the transfers that may be meant for sessions of the owner, or were assigned to them. */
function ofOwnSessions({ organizationId, mode }: Owner, condition: string, ...bindings: readonly Binding[]) {
  const sql = `select id from checkout_sessions where organization_id = ? and mode = ? and ${condition}`;
  return ofSessions(sql, organizationId, mode, ...bindings);
}

function ofSessions(sessions: string, ...bindings: readonly Binding[]): Meaning[] {
  return [
    few(`id in (select transfer_id from transfer_candidates where session_id in (${sessions}))`, ...bindings),
    { sql: `suggested_session_id in (${sessions})`, bindings },
    { sql: `session_id in (${sessions})`, bindings },
  ];
}
