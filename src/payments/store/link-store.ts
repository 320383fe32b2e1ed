import { booleanOf, jsonColumn, jsonOf, uintColumn, uintOrNull } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { containing, execute, rowsOf, type Sql } from '../../db/query.ts';
import type { Owner } from '../model/owner.ts';
import type { PaymentLink } from '../model/payment-link.ts';
import { select } from '../tables/select.ts';
import type { LinkRow } from '../tables/session-tables.ts';
import { allOf, keyOf, type ListPage, oneOf, ownedBy, type Page, paged } from './list-query.ts';

/** Filters and order of a list of links. Ties are ordered by id in the same direction. */
export interface LinkList {
  /** Part of the name or the short code. The search ignores letter case (Decision 102). Empty is no filter. */
  readonly search?: string | undefined;
  readonly active?: boolean | undefined;
  readonly sort: 'created_at' | 'updated_at' | 'name' | 'current_uses';
  readonly order: 'asc' | 'desc';
}

/** Payment links. Times are UTC milliseconds. */
export function linkStore(handle: Handle) {
  const findWhere = async ({ sql, bindings }: Sql): Promise<PaymentLink | undefined> => {
    const [row] = await select({ from: 'payment_links', columns: ['*'] }).rows(
      handle,
      `where ${sql}`,
      bindings,
    );
    return row && linkOf(row);
  };

  return {
    /** Requires that its short code was reserved in the same transaction. */
    async insert(link: PaymentLink): Promise<void> {
      await handle('payment_links').insert(linkValues(link));
    },

    find: (owner: Owner, id: string): Promise<PaymentLink | undefined> => findWhere(oneOf(owner, id)),

    /** Of any owner, because payers know only the code. */
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
      const listing = { table: 'payment_links', where, order: `${sort} ${order}, id ${order}` } as const;
      const sorted = sort === 'created_at' ? listing : { ...listing, unindexed: sort };
      return paged(handle, sorted, page, linkOf);
    },

    /** Writes everything except id, owner, uses and creation time. False when the link is gone. */
    async update(link: PaymentLink): Promise<boolean> {
      return (await handle('payment_links').where(keyOf(link, link.id)).update(changeableValues(link))) === 1;
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

    /** Counts one completed checkout. False, without counting, when no use is left or the link is gone. */
    async countUse(id: string, now: number): Promise<boolean> {
      const sql = `update payment_links set current_uses = current_uses + 1, updated_at = ?
                   where id = ? and (max_uses is null or current_uses < max_uses)`;
      return (await execute(handle, sql, [now, id])) === 1;
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

/** Columns of a link that an update writes. `current_uses` is only ever incremented. */
function changeableValues(link: PaymentLink) {
  return {
    short_code: link.shortCode,
    name: link.name,
    description: link.description,
    is_active: link.isActive,
    amount: uintOrNullColumn(link.amount),
    min_amount: uintOrNullColumn(link.minAmount),
    max_amount: uintOrNullColumn(link.maxAmount),
    suggested_amount: uintOrNullColumn(link.suggestedAmount),
    chain_id: link.chainId,
    token_address: link.tokenAddress,
    recipient_address: link.recipientAddress,
    image_url: link.imageUrl,
    theme_color: link.themeColor,
    button_text: link.buttonText,
    return_url: link.returnUrl,
    return_label: link.returnLabel,
    branding: link.branding && jsonColumn(link.branding),
    form_schema: link.formSchema && jsonColumn(link.formSchema),
    shipping_options: jsonColumn(link.shippingOptions),
    collect_shipping_address: link.collectShippingAddress,
    items: jsonColumn(link.items),
    max_uses: link.maxUses,
    expires_at: link.expiresAt,
    metadata: jsonColumn(link.metadata),
    updated_at: link.updatedAt,
    search_text: searchText(link.name + BETWEEN_SEARCHED + link.shortCode),
  } satisfies Partial<LinkRow>;
}

/** All columns of a link. */
export function linkValues(link: PaymentLink) {
  return {
    id: link.id,
    organization_id: link.organizationId,
    mode: link.mode,
    ...changeableValues(link),
    current_uses: link.currentUses,
    created_at: link.createdAt,
  } satisfies LinkRow;
}

/** Converts a row to a link. */
export function linkOf(row: LinkRow): PaymentLink {
  return {
    id: row.id,
    organizationId: row.organization_id,
    mode: row.mode,
    shortCode: row.short_code,
    name: row.name,
    description: row.description,
    isActive: booleanOf(row.is_active),
    amount: uintOrNull(row.amount),
    minAmount: uintOrNull(row.min_amount),
    maxAmount: uintOrNull(row.max_amount),
    suggestedAmount: uintOrNull(row.suggested_amount),
    chainId: row.chain_id,
    tokenAddress: row.token_address,
    recipientAddress: row.recipient_address,
    imageUrl: row.image_url,
    themeColor: row.theme_color,
    buttonText: row.button_text,
    returnUrl: row.return_url,
    returnLabel: row.return_label,
    branding: row.branding === null ? null : jsonOf(row.branding),
    formSchema: row.form_schema === null ? null : jsonOf(row.form_schema),
    shippingOptions: jsonOf(row.shipping_options),
    collectShippingAddress: booleanOf(row.collect_shipping_address),
    items: jsonOf(row.items),
    maxUses: row.max_uses,
    currentUses: row.current_uses,
    expiresAt: row.expires_at,
    metadata: jsonOf(row.metadata),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Text in the form of the search column: upper case, which unlike lower case never depends on neighboring letters. */
function searchText(text: string): string {
  return text.toUpperCase();
}

function uintOrNullColumn(value: bigint | null): string | null {
  return value === null ? null : uintColumn(value);
}
