import { exactInteger } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { execute, rowsOf, type Sql } from '#db/query.ts';
import type { Owner } from '../../model/owner.ts';
import type { Seals } from '../../secrets/sealed.ts';
import { allOf, ownedBy } from '../../store/conditions.ts';
import { type ListPage, type Page, paged } from '../../store/paging.ts';
import { insertRow, updateRows } from '../../store/rows.ts';
import type { Webhook, WebhookSecrets } from '../model/webhook.ts';
import { activityChanged } from '../model/webhook-activity.ts';
import { failHeldTooLong } from './held-deliveries.ts';
import { rowLock } from './row-lock.ts';
import { subscriptions } from './subscriptions.ts';
import {
  previousSecretCell,
  secretCell,
  secretsOf,
  settingValues,
  switchValues,
  type WebhookRow,
  webhookOf,
} from './webhook-rows.ts';

/** What its owner changes of a webhook; absent ones stay. */
export type WebhookChanges = Partial<Pick<Webhook, 'url' | 'events' | 'description' | 'isActive'>>;

/** The webhooks. What changes them is to be called in a transaction. Times are UTC milliseconds. */
export interface WebhookStore {
  insert(webhook: Webhook, secret: string): Promise<void>;
  find(owner: Owner, id: string): Promise<Webhook | undefined>;
  /** The newest first. */
  list(owner: Owner, page: Page): Promise<ListPage<Webhook>>;
  count(owner: Owner): Promise<number>;
  /**
   * Writes what its owner changed, and nothing that is counted. A webhook that is active again gets what was held;
   * what is too old by then fails. Undefined when there is none.
   */
  change(owner: Owner, id: string, changes: WebhookChanges, now: number): Promise<Webhook | undefined>;
  /** @throws SealError */
  secrets(owner: Owner, id: string): Promise<WebhookSecrets | undefined>;
  /** Makes the current secret the previous one until then, or, with null, ends every old one. Undefined when there is none. */
  rotate(
    owner: Owner,
    id: string,
    next: { secret: string; previousUntil: number | null },
    now: number,
  ): Promise<Webhook | undefined>;
  /** False when there is none. Its deliveries go with it. */
  remove(owner: Owner, id: string): Promise<boolean>;
}

export function webhookStore(handle: Handle, seals: Seals): WebhookStore {
  const findRow = async (owner: Owner, id: string, lock = ''): Promise<WebhookRow | undefined> => {
    const { sql, bindings } = oneOf(owner, id);
    const [row] = await rowsOf<WebhookRow>(handle, `select * from webhooks where ${sql}${lock}`, bindings);
    return row;
  };
  const find = async (owner: Owner, id: string) => {
    const row = await findRow(owner, id);
    return row && webhookOf(row);
  };
  const findToChange = (owner: Owner, id: string) => findRow(owner, id, rowLock(handle, 'for no key update'));

  return {
    async insert(webhook, secret) {
      await insertRow(handle, 'webhooks', {
        id: webhook.id,
        organization_id: webhook.organizationId,
        mode: webhook.mode,
        ...settingValues(webhook),
        sealed_secret: seals.seal(secret, secretCell(webhook.id)),
        ...switchValues(webhook),
        success_count: webhook.successCount,
        failure_count: webhook.failureCount,
        last_triggered_at: webhook.lastTriggeredAt,
        created_at: webhook.createdAt,
        updated_at: webhook.updatedAt,
      });
      const events = webhook.isActive ? webhook.events : null;
      await subscriptions(handle).replace(webhook.id, events, webhook.createdAt);
    },

    find,

    list(owner, page) {
      const listing = { table: 'webhooks', where: ownedBy(owner), order: 'created_at desc, id desc' };
      return paged(handle, listing, page, webhookOf);
    },

    async count(owner) {
      const { sql, bindings } = ownedBy(owner);
      const [row] = await rowsOf<{ total: number | string }>(
        handle,
        `select count(*) as total from webhooks where ${sql}`,
        bindings,
      );
      return exactInteger(row?.total);
    },

    async change(owner, id, changes, now) {
      const row = await findToChange(owner, id);
      if (row === undefined) return undefined;
      const before = webhookOf(row);
      const {
        url = before.url,
        events = before.events,
        description = before.description,
        isActive,
      } = changes;
      const activity = activityChanged(before, {
        ...(isActive === undefined ? {} : { isActive }),
        hasNewUrl: url !== before.url,
      });
      const after = { ...before, ...activity, url, events, description, updatedAt: now };
      const values = { ...settingValues(after), ...switchValues(after), updated_at: now };
      await updateRows(handle, 'webhooks', values, oneOf(owner, id));
      if (after.isActive !== before.isActive || `${events}` !== `${before.events}`) {
        await subscriptions(handle).replace(id, after.isActive ? events : null, now);
      }
      if (after.isActive && !before.isActive) await failHeldTooLong(handle, id, now);
      return after;
    },

    async secrets(owner, id) {
      const row = await findRow(owner, id);
      return row && secretsOf(row, seals);
    },

    async rotate(owner, id, { secret, previousUntil }, now) {
      const row = await findToChange(owner, id);
      if (row === undefined) return undefined;
      const { current } = secretsOf(row, seals);
      const values = {
        sealed_secret: seals.seal(secret, secretCell(id)),
        sealed_previous_secret: previousUntil === null ? null : seals.seal(current, previousSecretCell(id)),
        previous_secret_until: previousUntil,
        updated_at: now,
      };
      await updateRows(handle, 'webhooks', values, oneOf(owner, id));
      return { ...webhookOf(row), previousSecretUntil: previousUntil, updatedAt: now };
    },

    async remove(owner, id) {
      const { sql, bindings } = oneOf(owner, id);
      return (await execute(handle, `delete from webhooks where ${sql}`, bindings)) === 1;
    },
  };
}

function oneOf(owner: Owner, id: string): Sql {
  return allOf([ownedBy(owner), { sql: 'id = ?', bindings: [id] }]);
}
