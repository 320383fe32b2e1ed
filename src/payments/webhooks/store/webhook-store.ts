import { jsonColumn } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { rowLock, type Sql } from '#db/query.ts';
import { announce } from '#db/woken-worker.ts';
import type { Owner } from '../../model/owner.ts';
import {
  activityChanged,
  type Receiver,
  type Webhook,
  type WebhookActivity,
  type WebhookSecrets,
} from '../../model/webhook.ts';
import type { SealedCell, Seals } from '../../secrets/sealed.ts';
import {
  allOf,
  countOf,
  keyOf,
  type ListPage,
  type ListPageRequest,
  ownedBy,
  ownedRow,
  paged,
} from '../../store/list-query.ts';
import type { WebhookRow } from '../../tables/event-tables.ts';
import { recordForm } from '../../tables/record-form.ts';
import { select } from '../../tables/select.ts';
import { attemptStore } from './attempt-store.ts';
import { deliveryStore, failHeldTooLong } from './delivery-store.ts';
import { subscriptions } from './subscriptions.ts';

/** Changes of a webhook by its owner. Absent fields stay unchanged. */
export type WebhookChanges = Partial<
  Pick<Webhook, 'url' | 'events' | 'description' | 'storeResponses' | 'isActive'>
>;

/** Webhooks. Changes need a transaction. Times are UTC milliseconds. */
export type WebhookStore = ReturnType<typeof webhookStore>;

export function webhookStore(handle: Handle, seals: Seals) {
  const findRow = async (owner: Owner, id: string, lock = ''): Promise<WebhookRow | undefined> => {
    const { sql, bindings } = ownedRow(owner, id);
    const [row] = await select({ from: 'webhooks', columns: ['*'] }).rows(
      handle,
      `where ${sql} and deleted_at is null${lock}`,
      bindings,
    );
    return row;
  };
  const find = async (owner: Owner, id: string): Promise<Webhook | undefined> => {
    const row = await findRow(owner, id);
    return row && webhookOf(row);
  };
  const findToChange = (owner: Owner, id: string) => findRow(owner, id, rowLock(handle, 'for no key update'));

  return {
    async insert(webhook: Webhook, secret: string): Promise<void> {
      await handle('webhooks').insert({
        ...webhookForm.rowOf(webhook),
        sealed_secret: seals.seal(secret, secretCell(webhook.id)),
        deleted_at: null,
      });
      const events = webhook.isActive ? webhook.events : null;
      await subscriptions(handle).replace(webhook.id, events, webhook.createdAt);
    },

    find,

    /** Newest first. */
    list(owner: Owner, page: ListPageRequest): Promise<ListPage<Webhook>> {
      const listing = {
        table: 'webhooks',
        where: standing(owner),
        order: 'created_at desc, id desc',
      } as const;
      return paged(handle, listing, page, webhookOf);
    },

    count: (owner: Owner): Promise<number> => countOf(handle, 'webhooks', standing(owner)),

    /**
     * Writes changes by the owner, without touching counters. A webhook that becomes active again gets its held
     * deliveries; those that are too old fail. Undefined when there is no such webhook.
     */
    async change(
      owner: Owner,
      id: string,
      changes: WebhookChanges,
      now: number,
    ): Promise<Webhook | undefined> {
      const row = await findToChange(owner, id);
      if (row === undefined) return undefined;
      const before = webhookOf(row);
      const {
        url = before.url,
        events = before.events,
        description = before.description,
        storeResponses = before.storeResponses,
        isActive,
      } = changes;
      const activity = activityChanged(before, {
        ...(isActive === undefined ? {} : { isActive }),
        hasNewUrl: url !== before.url,
      });
      const settings = { url, events, description, storeResponses };
      const after = { ...before, ...activity, ...settings, updatedAt: now };
      const values = { ...settingValues(after), ...switchValues(after), updated_at: now };
      await handle('webhooks').where(keyOf(owner, id)).update(values);
      if (after.isActive !== before.isActive || `${events}` !== `${before.events}`) {
        await subscriptions(handle).replace(id, after.isActive ? events : null, now);
        announce(handle, 'deliveries');
      }
      if (after.isActive && !before.isActive) await failHeldTooLong(handle, id, now);
      if (before.storeResponses && !storeResponses) await attemptStore(handle, seals).forgetAnswersOf(id);
      return after;
    },

    /** @throws SealError */
    async secrets(owner: Owner, id: string): Promise<WebhookSecrets | undefined> {
      const row = await findRow(owner, id);
      return row && secretsOf(row, seals);
    },

    /**
     * Replaces the secret. The current one signs as the previous one until `previousUntil`; null ends all old secrets
     * at once. Undefined when there is no such webhook.
     */
    async rotate(
      owner: Owner,
      id: string,
      { secret, previousUntil }: { secret: string; previousUntil: number | null },
      now: number,
    ): Promise<Webhook | undefined> {
      const row = await findToChange(owner, id);
      if (row === undefined) return undefined;
      const { current } = secretsOf(row, seals);
      const values = {
        sealed_secret: seals.seal(secret, secretCell(id)),
        sealed_previous_secret: previousUntil === null ? null : seals.seal(current, previousSecretCell(id)),
        previous_secret_until: previousUntil,
        updated_at: now,
      };
      await handle('webhooks').where(keyOf(owner, id)).update(values);
      return { ...webhookOf(row), previousSecretUntil: previousUntil, updatedAt: now };
    },

    /**
     * Deletes a webhook: from now on nothing finds it or sends to it. Its rows stay until `removeDeleted` removes them.
     * False when there is no such webhook.
     */
    async markDeleted(owner: Owner, id: string, now: number): Promise<boolean> {
      const off = await this.change(owner, id, { isActive: false }, now);
      if (off === undefined) return false;
      await handle('webhooks').where(keyOf(owner, id)).update({ deleted_at: now });
      return true;
    },

    /** Removes up to `limit` deliveries of a deleted webhook, or at last the webhook. Returns the number of rows. */
    async removeDeleted(limit: number): Promise<number> {
      const [row] = await select({ from: 'webhooks', columns: ['id'] }).rows(
        handle,
        'where deleted_at is not null order by deleted_at limit 1',
      );
      if (row === undefined) return 0;
      const removed = await deliveryStore(handle, seals).removeOf(row.id, limit);
      return removed > 0 ? removed : handle('webhooks').where({ id: row.id }).delete();
    },
  };
}

/** Condition for the webhooks of an owner that are not deleted. */
function standing(owner: Owner): Sql {
  return allOf([ownedBy(owner), { sql: 'deleted_at is null', bindings: [] }]);
}

/** Columns that decide about deliveries to a webhook, without the mere counters. */
export function switchValues(activity: WebhookActivity) {
  const { isActive, disabledReason, disabledAt, failuresInARow, failingSince } = activity;
  return {
    is_active: isActive,
    disabled_reason: disabledReason,
    disabled_at: disabledAt,
    failures_in_a_row: failuresInARow,
    failing_since: failingSince,
  } satisfies Partial<WebhookRow>;
}

/** Columns that the owner sets. */
function settingValues({
  url,
  events,
  description,
  storeResponses,
}: Pick<Webhook, 'url' | 'events' | 'description' | 'storeResponses'>) {
  return {
    url,
    events: jsonColumn(events),
    description,
    store_responses: storeResponses,
  } satisfies Partial<WebhookRow>;
}

const webhookForm = recordForm<Webhook>({
  id: 'plain',
  organizationId: 'plain',
  mode: 'plain',
  url: 'plain',
  events: 'json',
  description: 'plain',
  storeResponses: 'boolean',
  previousSecretUntil: 'plain',
  isActive: 'boolean',
  disabledReason: 'plain',
  disabledAt: 'plain',
  failuresInARow: 'plain',
  failingSince: 'plain',
  successCount: 'plain',
  failureCount: 'plain',
  lastTriggeredAt: 'plain',
  createdAt: 'plain',
  updatedAt: 'plain',
});
/** Converts a row to a webhook, without its secrets. */
export const webhookOf = webhookForm.recordOf;

/** URL and decrypted secrets of a webhook. @throws SealError */
export function receiverOf(row: WebhookRow, seals: Seals): Receiver {
  const { storeResponses } = webhookOf(row);
  return { webhookId: row.id, url: row.url, secrets: secretsOf(row, seals), storeResponses };
}

/** Decrypts the secrets in a row. @throws SealError */
function secretsOf(row: WebhookRow, seals: Seals): WebhookSecrets {
  const { sealed_previous_secret: previous, previous_secret_until: until } = row;
  return {
    current: seals.open(row.sealed_secret, secretCell(row.id)),
    previous:
      previous === null || until === null
        ? null
        : { secret: seals.open(previous, previousSecretCell(row.id)), until },
  };
}

function secretCell(id: string): SealedCell {
  return { table: 'webhooks', column: 'sealed_secret', id };
}

function previousSecretCell(id: string): SealedCell {
  return { table: 'webhooks', column: 'sealed_previous_secret', id };
}
