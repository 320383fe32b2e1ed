import type { Handle } from '../../db/open.ts';
import type { StatedAddress } from '../model/refund.ts';
import { recordForm } from '../tables/record-form.ts';
import { select } from '../tables/select.ts';

/** Addresses that payers stated for refunds, one per session (Decision 351). */
export function refundAddressStore(handle: Handle) {
  return {
    async find(sessionId: string): Promise<StatedAddress | undefined> {
      const [row] = await select({ from: 'refund_addresses', columns: ['*'] }).rows(
        handle,
        'where session_id = ?',
        [sessionId],
      );
      return row && statedForm.recordOf(row);
    },

    /** Replaces an earlier statement of the session. */
    async keep(stated: StatedAddress): Promise<void> {
      await handle('refund_addresses').insert(statedForm.rowOf(stated)).onConflict('session_id').merge();
    },
  };
}

const statedForm = recordForm<StatedAddress>({
  sessionId: 'plain',
  address: 'plain',
  isProved: 'boolean',
  proofs: 'plain',
  previousAddress: 'plain',
  statedAt: 'plain',
});
