import type { Handle } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { placeholders } from '#db/rows.ts';
import { DAY_MS } from '#lib/clock.ts';
import type { Owner } from '../model/owner.ts';
import {
  allOf,
  type ListPage,
  type ListPageRequest,
  optionalCondition,
  ownedBy,
  paged,
} from '../store/list-query.ts';
import { recordForm } from '../tables/record-form.ts';
import { select } from '../tables/select.ts';
import type { AuditEvent } from './audit-event.ts';

/** Retention of audit events, in milliseconds (Decision 429). */
export const AUDIT_LIFETIME_MS = 90 * DAY_MS;

/** Filters of the audit log. Times are UTC milliseconds. */
export interface AuditFilters {
  readonly type?: string | undefined;
  readonly resourceId?: string | undefined;
  readonly actor?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

const form = recordForm<AuditEvent>({
  id: 'plain',
  organizationId: 'plain',
  mode: 'plain',
  type: 'plain',
  resourceId: 'plain',
  actor: 'plain',
  address: 'plain',
  method: 'plain',
  path: 'plain',
  status: 'plain',
  createdAt: 'plain',
});

/** Store of the audit log. Events are written in the transaction of the change, and never changed. */
export function auditStore(handle: Handle) {
  return {
    async insert(event: AuditEvent): Promise<void> {
      await handle('audit_events').insert(form.rowOf(event));
    },

    /** Newest first. */
    list(owner: Owner, filters: AuditFilters, page: ListPageRequest): Promise<ListPage<AuditEvent>> {
      const where = allOf([
        ownedBy(owner),
        optionalCondition('type = ?', filters.type),
        optionalCondition('resource_id = ?', filters.resourceId),
        optionalCondition('actor = ?', filters.actor),
        optionalCondition('created_at >= ?', filters.from),
        optionalCondition('created_at < ?', filters.to),
      ]);
      const listing = { table: 'audit_events', where, order: 'created_at desc, id desc' } as const;
      return paged(handle, listing, page, form.recordOf);
    },

    /** Times of the latest events of these types after `since`, newest first. Times are UTC milliseconds. */
    async times(
      owner: Owner,
      { types, since, limit }: { types: readonly string[]; since: number; limit: number },
    ): Promise<number[]> {
      const where = allOf([
        ownedBy(owner),
        { sql: `type in (${placeholders(types.length)})`, bindings: [...types] },
        { sql: 'created_at > ?', bindings: [since] },
      ]);
      const rows = await select({ from: 'audit_events', columns: ['created_at'] }).rows(
        handle,
        `where ${where.sql} order by created_at desc, id desc limit ?`,
        [...where.bindings, limit],
      );
      return rows.map(row => row.created_at);
    },

    /** Removes at most `limit` events from before a time (UTC milliseconds). Resolves to their number. */
    removeOld: ({ before, limit }: { before: number; limit: number }): Promise<number> =>
      execute(
        handle,
        `delete from audit_events where id in (
           select id from audit_events where created_at < ? order by created_at limit ?
         )`,
        [before, limit],
      ),
  };
}
