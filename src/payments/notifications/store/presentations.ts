import { jsonOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import type { NoticePayload } from '../../model/notification.ts';
import type { Presentation } from '../../model/session.ts';
import { select } from '../../tables/select.ts';

/**
 * Presentation of the session in a notice, with the labels of the payer's answers (Decision 378). Undefined without a
 * session; a notice about several events shows neither.
 */
export async function presentationIn(
  handle: Handle,
  payload: NoticePayload,
): Promise<Presentation | undefined> {
  const events =
    payload.kind === 'payment' || payload.kind === 'customer'
      ? [payload.event]
      : payload.kind === 'attention'
        ? payload.events
        : [];
  const session = events.length === 1 ? events[0]?.data.checkoutSession : null;
  if (session == null) return undefined;
  const [row] = await select({ from: 'checkout_sessions', columns: ['presentation'] }).rows(
    handle,
    'where id = ?',
    [session.id],
  );
  return row && jsonOf<Presentation>(row.presentation);
}
