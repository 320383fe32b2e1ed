import type { Handle } from '../../db/open.ts';
import { containing, execute, rowsOf, type Sql } from '../../db/query.ts';
import type { Owner } from '../model/owner.ts';
import type { PaymentLink } from '../model/payment-link.ts';
import { heldSince } from '../model/session.ts';
import { recordForm } from '../tables/record-form.ts';
import { select } from '../tables/select.ts';
import type { LinkRow } from '../tables/session-tables.ts';
import { allOf, keyOf, type ListPage, type ListPageRequest, ownedBy, ownedRow, paged } from './list-query.ts';

/** Filters and order of a list of links. Ties are ordered by id in the same direction. */
export interface LinkList {
  /** Part of the name or the short code. The search ignores letter case (Decision 102). Empty is no filter. */
  readonly search?: string | undefined;
  readonly active?: boolean | undefined;
  readonly sort: 'created_at' | 'updated_at' | 'name' | 'current_uses';
  readonly order: 'asc' | 'desc';
}

/**
 * Condition of sessions for which a use of their link is reserved, as `holdsUse` of the model says it. Its binding is
 * `heldSince`.
 */
export const HOLDS_USE = `status = 'active' and use_reserved_until is not null
  and (use_reserved_until > ? or payment_status = 'confirming')`;

const RESERVED_USES = `(case when reserve_uses then (
    select count(*) from checkout_sessions where payment_link_id = payment_links.id and ${HOLDS_USE}
  ) else 0 end)`;

/** Payment links. Times are UTC milliseconds. */
export function linkStore(handle: Handle) {
  const findWhere = async ({ sql, bindings }: Sql): Promise<PaymentLink | undefined> => {
    const [row] = await select({ from: 'payment_links', columns: ['*'] }).rows(
      handle,
      `where ${sql}`,
      bindings,
    );
    return row && linkForm.recordOf(row);
  };

  return {
    /** Requires that its short code was reserved in the same transaction. */
    async insert(link: PaymentLink): Promise<void> {
      await handle('payment_links').insert(linkValues(link));
    },

    find: (owner: Owner, id: string): Promise<PaymentLink | undefined> => findWhere(ownedRow(owner, id)),

    /** Of any owner, because payers know only the code. */
    findByShortCode: (code: string): Promise<PaymentLink | undefined> =>
      findWhere({ sql: 'short_code = ?', bindings: [code] }),

    list(
      owner: Owner,
      { search, active, sort, order }: LinkList,
      page: ListPageRequest,
    ): Promise<ListPage<PaymentLink>> {
      const where = allOf([
        ownedBy(owner),
        searched(handle, search ?? ''),
        active === undefined ? undefined : { sql: active ? 'is_active' : 'not is_active', bindings: [] },
      ]);
      const listing = { table: 'payment_links', where, order: `${sort} ${order}, id ${order}` } as const;
      const sorted = sort === 'created_at' ? listing : { ...listing, unindexed: sort };
      return paged(handle, sorted, page, linkForm.recordOf);
    },

    /** Writes everything except id, owner, uses and creation time. False when the link is gone. */
    async update(link: PaymentLink): Promise<boolean> {
      return (
        (await handle('payment_links')
          .where(keyOf(link, link.id))
          .update({ ...changeableForm.rowOf(link), ...searchValues(link) })) === 1
      );
    },

    /** False when there is no such link. Its sessions and transactions stay, without a link. */
    async remove(owner: Owner, id: string): Promise<boolean> {
      return (await handle('payment_links').where(keyOf(owner, id)).delete()) === 1;
    },

    /** Detaches up to `limit` transactions from the link; returns their number. */
    detachTransactions(id: string, limit: number): Promise<number> {
      const sql = `update transactions set payment_link_id = null
                   where id in (select id from transactions where payment_link_id = ? limit ?)`;
      return execute(handle, sql, [id, limit]);
    },

    /** True when the link has sessions, in any status. */
    async hasSessions(id: string): Promise<boolean> {
      const sql = 'select id from checkout_sessions where payment_link_id = ? limit 1';
      return (await rowsOf(handle, sql, [id])).length > 0;
    },

    /**
     * Counts one completed checkout. False, without counting, when the link is gone or no use is left: without a
     * reservation, none that is not reserved for another checkout.
     */
    async countUse(id: string, now: number, isReserved = false): Promise<boolean> {
      const reserved = isReserved ? '0' : RESERVED_USES;
      const sql = `update payment_links set current_uses = current_uses + 1, updated_at = ?
                   where id = ? and (max_uses is null or current_uses + ${reserved} < max_uses)`;
      const since = isReserved ? [] : [heldSince(now)];
      return (await execute(handle, sql, [now, id, ...since])) === 1;
    },

    /** Counts a use that a completed checkout has, also beyond `max_uses` (Decisions 345 and 355). */
    async takeUse(id: string, now: number): Promise<void> {
      const sql = 'update payment_links set current_uses = current_uses + 1, updated_at = ? where id = ?';
      await execute(handle, sql, [now, id]);
    },

    /** Gives back the use of a checkout whose payment the chain has dropped. */
    async returnUse(id: string, now: number): Promise<void> {
      const sql = `update payment_links set current_uses = current_uses - 1, updated_at = ?
                   where id = ? and current_uses > 0`;
      await execute(handle, sql, [now, id]);
    },

    /**
     * Reserves a code for the link. A code is never used again (Decision 108): false when another link has or had it.
     */
    async reserveShortCode(code: string, linkId: string): Promise<boolean> {
      // A failed insert would abort the transaction on PostgreSQL, so a conflict is no error.
      const reserved = await rowsOf(
        handle,
        `insert into short_codes (code, payment_link_id) values (?, ?)
         on conflict (code) do update set payment_link_id = excluded.payment_link_id
         where short_codes.payment_link_id = excluded.payment_link_id
         returning code`,
        [code, linkId],
      );
      return reserved.length === 1;
    },
  };
}

function searched(handle: Handle, text: string): Sql | undefined {
  if (text === '') return undefined;
  // A text with the separator matches neither a name nor a short code.
  if (text.includes(BETWEEN_SEARCHED)) return { sql: '1 = 0', bindings: [] };
  return containing(handle, 'search_text', searchText(text));
}

/** Separator that occurs in no name and no short code. */
const BETWEEN_SEARCHED = '\n';

/** Fields of a link that an update writes. `currentUses` is only ever incremented. */
const CHANGEABLE = {
  shortCode: 'plain',
  name: 'plain',
  description: 'plain',
  isActive: 'boolean',
  amount: 'uint256',
  minAmount: 'uint256',
  maxAmount: 'uint256',
  suggestedAmount: 'uint256',
  chainId: 'plain',
  tokenAddress: 'plain',
  recipientAddress: 'plain',
  imageUrl: 'plain',
  themeColor: 'plain',
  buttonText: 'plain',
  returnUrl: 'plain',
  returnLabel: 'plain',
  branding: 'json',
  formSchema: 'json',
  shippingOptions: 'json',
  collectShippingAddress: 'boolean',
  items: 'json',
  maxUses: 'plain',
  reserveUses: 'boolean',
  paymentMethod: 'plain',
  toleranceBps: 'plain',
  expiresAt: 'plain',
  metadata: 'json',
  updatedAt: 'plain',
} as const;
const changeableForm = recordForm<Pick<PaymentLink, keyof typeof CHANGEABLE>>(CHANGEABLE);
const linkForm = recordForm<PaymentLink>({
  id: 'plain',
  organizationId: 'plain',
  mode: 'plain',
  currentUses: 'plain',
  createdAt: 'plain',
  ...CHANGEABLE,
});

/** All columns of a link. */
export function linkValues(link: PaymentLink): LinkRow {
  return { ...linkForm.rowOf(link), ...searchValues(link), ends_sessions: false };
}

function searchValues({ name, shortCode }: PaymentLink) {
  return { search_text: searchText(name + BETWEEN_SEARCHED + shortCode) };
}

/** Text in the form of the search column: upper case, which unlike lower case never depends on neighboring letters. */
export function searchText(text: string): string {
  return text.toUpperCase();
}
