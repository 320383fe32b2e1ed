import type { Handle } from '#db/open.ts';
import { execute, rowsOf } from '#db/query.ts';
import { insertRow } from '../../store/rows.ts';

/** So many test mails an organization may send in an hour, in both modes together. Decision 128. */
export const TEST_MAILS_AN_HOUR = 3;
const HOUR_MS = 3_600_000;

/** How many test mails were tried. */
export interface TestMails {
  /**
   * Counts one more and answers null, or, when there were too many within an hour, answers when the next is allowed
   * (UTC ms). To be called in a transaction that is committed before the mail is sent.
   */
  reserve(organizationId: string, now: number): Promise<number | null>;
}

export function testMails(handle: Handle): TestMails {
  return {
    async reserve(organizationId, now) {
      const old = 'delete from test_mails where organization_id = ? and at <= ?';
      await execute(handle, old, [organizationId, now - HOUR_MS]);
      const rows = await rowsOf<{ at: number }>(
        handle,
        'select at from test_mails where organization_id = ? order by at desc limit ?',
        [organizationId, TEST_MAILS_AN_HOUR],
      );
      const first = rows[TEST_MAILS_AN_HOUR - 1];
      if (first !== undefined) return first.at + HOUR_MS;
      await insertRow(handle, 'test_mails', { organization_id: organizationId, at: now });
      return null;
    },
  };
}
