import type { Handle } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { defaultSettings, type NotificationSettings } from '../../model/notification.ts';
import type { Owner } from '../../model/owner.ts';
import { ownersOf } from '../../store/list-query.ts';
import { recordForm } from '../../tables/record-form.ts';
import { select } from '../../tables/select.ts';

/** Notification settings of organizations. */
export function notificationStore(handle: Handle) {
  const saved = async (owners: readonly Owner[]): Promise<NotificationSettings[]> => {
    if (owners.length === 0) return [];
    const { sql, bindings } = ownersOf(owners);
    const rows = await select({ from: 'notification_settings', columns: ['*'] }).rows(
      handle,
      `where (organization_id, mode) in ${sql}`,
      bindings,
    );
    return rows.map(settingsForm.recordOf);
  };

  return {
    /** Settings of those owners that have saved some. */
    saved,

    /** Settings of an owner, or the defaults when none are saved. Undefined without such an organization. */
    async find(owner: Owner): Promise<NotificationSettings | undefined> {
      const [settings] = await saved([owner]);
      if (settings !== undefined) return settings;
      const [organization] = await select({ from: 'organizations', columns: ['created_at'] }).rows(
        handle,
        'where id = ?',
        [owner.organizationId],
      );
      return organization && defaultSettings(owner, organization.created_at);
    },

    /** Writes all settings. Call it in the transaction that read them, so that no concurrent change is lost. */
    async save(settings: NotificationSettings): Promise<void> {
      await handle('notification_settings')
        .insert(settingsForm.rowOf(settings))
        .onConflict(['organization_id', 'mode'])
        .merge();
    },

    /** Owners that a chat is linked to. */
    async ownersOfChat(chatId: string): Promise<Owner[]> {
      const rows = await select({ from: 'notification_settings', columns: ['organization_id', 'mode'] }).rows(
        handle,
        'where messenger_chat_id = ? order by 1, 2',
        [chatId],
      );
      return rows.map(row => ({ organizationId: row.organization_id, mode: row.mode }));
    },
  };
}

const settingsForm = recordForm<NotificationSettings>({
  organizationId: 'plain',
  mode: 'plain',
  emailEnabled: 'boolean',
  emailAddress: 'plain',
  messengerEnabled: 'boolean',
  messengerChatId: 'plain',
  messengerUsername: 'plain',
  enabledEvents: 'json',
  attention: 'boolean',
  customerEmails: 'boolean',
  updatedAt: 'plain',
});

/** Test mails per hour and organization, both modes together (Decision 128). */
const TEST_MAILS_AN_HOUR = 3;
const HOUR_MS = 3_600_000;

/** Counts attempts to send test mails. */
export function testMails(handle: Handle) {
  return {
    /**
     * Counts one more and returns null. After too many within an hour, returns the time (UTC ms) from which the next
     * one is allowed. Call it in a transaction that is committed before the mail is sent.
     */
    async reserve(organizationId: string, now: number): Promise<number | null> {
      const old = 'delete from test_mails where organization_id = ? and at <= ?';
      await execute(handle, old, [organizationId, now - HOUR_MS]);
      const rows = await select({ from: 'test_mails', columns: ['at'] }).rows(
        handle,
        'where organization_id = ? order by at desc limit ?',
        [organizationId, TEST_MAILS_AN_HOUR],
      );
      const first = rows[TEST_MAILS_AN_HOUR - 1];
      if (first !== undefined) return first.at + HOUR_MS;
      await handle('test_mails').insert({ organization_id: organizationId, at: now });
      return null;
    },
  };
}
