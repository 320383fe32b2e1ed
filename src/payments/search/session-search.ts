import { type Binding, uintColumn } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { BOUND, containing, type Sql } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { customerStore } from '../customers/customer-store.ts';
import type { Owner } from '../model/owner.ts';
import type { PaymentChains } from '../model/payment-chain.ts';
import type { CheckoutSession } from '../model/session.ts';
import type { Seals } from '../secrets/sealed.ts';
import { filteredSessions, type SessionFilters } from '../sessions/session-filters.ts';
import { sessionOf } from '../sessions/session-rows.ts';
import { searchText } from '../store/link-store.ts';
import { allOf, optionalCondition, ownedBy } from '../store/list-query.ts';
import { select } from '../tables/select.ts';
import { type SearchText, type SoughtAmount, searchTextOf } from './search-text.ts';
import { type Meaning, type SortedPage, type SortedPageRequest, sortedPage } from './sorted-page.ts';

/** A search in an owner's records. */
export interface Search {
  readonly owner: Owner;
  /** Undefined for all records. */
  readonly text: SearchText | undefined;
  /** Only records of this customer. */
  readonly customerId?: string | undefined;
}

/** The search of a request. */
export function searchOf(
  { query, customer_id: customerId }: { readonly query?: string; readonly customer_id?: string },
  owner: Owner,
  chains: PaymentChains,
): Search {
  return { owner, text: searchTextOf(query, { chains, mode: owner.mode }), customerId };
}

/** Sessions that a text finds and that match every filter (Decision 430). @throws CursorFault */
export async function foundSessions(
  { handle, seals }: { readonly handle: Handle; readonly seals: Seals },
  { owner, text, customerId }: Search,
  filters: SessionFilters,
  page: SortedPageRequest,
): Promise<SortedPage<CheckoutSession>> {
  const found = text && (await meanings({ handle, seals }, owner, text));
  const listed = {
    table: 'checkout_sessions',
    selection: SESSIONS,
    owner,
    filters: allOf([filteredSessions(filters), optionalCondition('customer_id = ?', customerId)]),
    found,
  } as const;
  return sortedPage(handle, listed, page, row => sessionOf(row, seals));
}

const SESSIONS = select({ from: 'checkout_sessions', columns: ['*'] });

async function meanings(
  { handle, seals }: { readonly handle: Handle; readonly seals: Seals },
  owner: Owner,
  text: SearchText,
): Promise<Meaning[]> {
  switch (text.kind) {
    case 'session':
      return [few('id = ?', text.id)];
    case 'transaction':
      return [few('id in (select session_id from transactions where id = ?)', text.id)];
    case 'link':
      return [{ sql: 'payment_link_id = ?', bindings: [text.id] }];
    case 'customer':
      return [{ sql: 'customer_id = ?', bindings: [text.id] }];
    case 'refund':
      return [few('id in (select session_id from refunds where id = ?)', text.id)];
    case 'transfer':
      return [few(OF_TRANSFER, text.id, text.id)];
    case 'hash':
      return [few(OF_HASH, text.hash, text.hash)];
    case 'address':
      return [
        { sql: 'payer_address = ?', bindings: [text.address] },
        { sql: HAS_OTHER_SIGNER, bindings: [text.address] },
        few(OF_ADDRESS, text.address, owner.organizationId, owner.mode, text.address),
      ];
    case 'email': {
      const customerId = await customerStore(handle, seals).idByEmail(owner, text.email);
      return customerId === undefined ? [] : [{ sql: 'customer_id = ?', bindings: [customerId] }];
    }
    case 'text':
      return [
        { sql: HAS_REFERENCE, bindings: [text.text] },
        ...(await linkMeanings(handle, owner, text.text)),
        ...text.amounts.flatMap(amountMeanings),
      ];
  }
}

/** Condition that names few records. */
export function few(sql: string, ...bindings: readonly Binding[]): Meaning {
  return { sql, bindings, isOfFew: true };
}

/** Condition for sessions with an order reference, in any letter case, as the index of references has it. */
export const HAS_REFERENCE = 'client_reference_id is not null and lower(client_reference_id) = lower(?)';

/** Condition for sessions that a wallet signed and another one paid, as the index of these wallets has it. */
export const HAS_OTHER_SIGNER = 'signed_address = ? and signed_address is distinct from payer_address';

const OF_TRANSFER = `id in (
  select session_id from transfer_candidates where transfer_id = ?
  union all select t.session_id from transactions t join unmatched_transfers u on u.transaction_id = t.id where u.id = ?)`;

/** Chains by their cursors, because the index of hashes begins with the chain. */
export const AT_HASH = 'chain_id in (select chain_id from chain_cursors) and tx_hash = ?';

const OF_HASH = `id in (select session_id from transactions where ${AT_HASH}
  union all select session_id from refunds where tx_hash = ?)`;

/** Payments of other wallets than the session's payer. */
const OF_ADDRESS = `id in (select id from checkout_sessions where deposit_address = ?
  union all select session_id from transactions where organization_id = ? and mode = ? and sender = ?)`;

/** Condition for records of links with a name that contains the text; none when there is no such link. */
export async function linkMeanings(handle: Handle, owner: Owner, text: string): Promise<Sql[]> {
  const where = allOf([ownedBy(owner), containing(handle, 'search_text', searchText(text))]);
  const links = await select({ from: 'payment_links', columns: ['id'] }).rows(
    handle,
    `where ${where.sql} limit ${BOUND}`,
    [...where.bindings, MOST_LINKS + 1],
  );
  const ids = links.map(({ id }) => id);
  if (ids.length === 0) return [];
  if (ids.length > MOST_LINKS) {
    // Without `is true`, PostgreSQL may join every record with every link, which takes minutes.
    const sql = `(payment_link_id in (select id from payment_links where ${where.sql})) is true`;
    return [{ sql, bindings: where.bindings }];
  }
  return [{ sql: `payment_link_id in (${placeholders(ids.length)})`, bindings: ids }];
}

/** Most links that are named one by one, so that a database looks up the records of each. */
const MOST_LINKS = 1_000;

function amountMeanings({ units, tokens }: SoughtAmount): Sql[] {
  const ofToken = `token_address in (${placeholders(tokens.length)})`;
  const bindings = [uintColumn(units), ...tokens];
  return [
    { sql: `amount = ? and ${ofToken}`, bindings },
    { sql: `amount_due = ? and amount_due <> amount and ${ofToken}`, bindings },
    { sql: `amount_received = ? and ${IS_UNUSUAL} and ${ofToken}`, bindings },
  ];
}

/** An amount received that no other column has, as the index of these amounts says it. */
const IS_UNUSUAL = "amount_received <> '010' and amount_received <> amount and amount_received <> amount_due";
