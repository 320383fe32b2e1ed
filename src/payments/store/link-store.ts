import type { Handle } from '../../db/open.ts';
import { containing, execute, rowsOf, type Sql } from '../../db/query.ts';
import type { Owner } from '../model/owner.ts';
import type { PaymentLink } from '../model/payment-link.ts';
import {
  BETWEEN_SEARCHED,
  changeableValues,
  type LinkRow,
  linkOf,
  linkValues,
  searchText,
} from './link-rows.ts';
import { allOf, type ListPage, ownedBy, type Page, paged } from './paging.ts';
import { insertRow, updateRows } from './rows.ts';

/** What a list of links is narrowed to and ordered by; equal ones follow by id in the same direction. */
export interface LinkList {
  /** Part of the name or the short code, in any letter case; empty is no filter. Decision 102. */
  readonly search?: string | undefined;
  readonly active?: boolean | undefined;
  readonly sort: 'created_at' | 'updated_at' | 'name' | 'current_uses';
  readonly order: 'asc' | 'desc';
}

/** The payment links. Times are UTC milliseconds. */
export function linkStore(handle: Handle) {
  const findWhere = async ({ sql, bindings }: Sql): Promise<PaymentLink | undefined> => {
    const [row] = await rowsOf<LinkRow>(handle, `select * from payment_links where ${sql}`, bindings);
    return row && linkOf(row);
  };

  return {
    /** Its short code has been reserved before, in the same transaction. */
    insert: (link: PaymentLink): Promise<void> => insertRow(handle, 'payment_links', linkValues(link)),

    find: (owner: Owner, id: string): Promise<PaymentLink | undefined> => findWhere(oneOf(owner, id)),

    /** Whoever owns it: this is the payer's way in. */
    findByShortCode: (code: string): Promise<PaymentLink | undefined> =>
      findWhere({ sql: 'short_code = ?', bindings: [code] }),

    list(
      owner: Owner,
      { search, active, sort, order }: LinkList,
      page: Page,
    ): Promise<ListPage<PaymentLink>> {
      const where = allOf([
        ownedBy(owner),
        searched(handle, search ?? ''),
        active === undefined ? undefined : { sql: active ? 'is_active' : 'not is_active', bindings: [] },
      ]);
      const listing = { table: 'payment_links', where, order: `${sort} ${order}, id ${order}` };
      return paged(handle, listing, page, linkOf);
    },

    /** Writes all but id, owner, uses and creation. False when it is gone. */
    async update(link: PaymentLink): Promise<boolean> {
      return (await updateRows(handle, 'payment_links', changeableValues(link), oneOf(link, link.id))) === 1;
    },

    /** False when there is none. Sessions and transactions of it stay, without a link. */
    async remove(owner: Owner, id: string): Promise<boolean> {
      const { sql, bindings } = oneOf(owner, id);
      return (await execute(handle, `delete from payment_links where ${sql}`, bindings)) === 1;
    },

    /** Takes the link from up to `limit` of its transactions; answers with how many. */
    detachTransactions(id: string, limit: number): Promise<number> {
      const sql = `update transactions set payment_link_id = null
                   where id in (select id from transactions where payment_link_id = ? limit ?)`;
      return execute(handle, sql, [id, limit]);
    },

    /** Whether a session, of whatever status, was ever opened of it. */
    async hasSessions(id: string): Promise<boolean> {
      const sql = 'select id from checkout_sessions where payment_link_id = ? limit 1';
      return (await rowsOf(handle, sql, [id])).length > 0;
    },

    /** Counts one completed checkout. False, and nothing is counted, when no use is left or the link is gone. */
    async countUse(id: string, now: number): Promise<boolean> {
      const sql = `update payment_links set current_uses = current_uses + 1, updated_at = ?
                   where id = ? and (max_uses is null or current_uses < max_uses)`;
      return (await execute(handle, sql, [now, id])) === 1;
    },

    /** Makes a code the link's for ever. False when another link has it or had it. Decision 108. */
    async reserveShortCode(code: string, linkId: string): Promise<boolean> {
      // One that fails would end a transaction of PostgreSQL.
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

function searched({ dialect }: Handle, text: string): Sql | undefined {
  if (text === '') return undefined;
  // Where a name ends and the short code begins is no part of either.
  if (text.includes(BETWEEN_SEARCHED)) return { sql: '1 = 0', bindings: [] };
  return containing(dialect, 'search_text', searchText(text));
}

function oneOf(owner: Owner, id: string): Sql {
  return allOf([ownedBy(owner), { sql: 'id = ?', bindings: [id] }]);
}
