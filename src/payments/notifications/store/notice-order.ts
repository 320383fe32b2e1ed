import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { jsonOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import type { NoticePayload } from '../../model/notification.ts';
import type { Presentation } from '../../model/session.ts';
import { select } from '../../tables/select.ts';

/** The order in a notice: how its session was presented, and its way of shipping. */
export interface NoticeOrder extends Presentation {
  readonly shipping: string | null;
}

/**
 * Order of the session in a notice, with the labels of the payer's answers (Decision 378). Undefined without a session; a
 * notice about several events shows none.
 */
export async function orderIn(handle: Handle, payload: NoticePayload): Promise<NoticeOrder | undefined> {
  const events =
    payload.kind === 'payment' || payload.kind === 'customer'
      ? [payload.event]
      : payload.kind === 'attention'
        ? payload.events
        : [];
  const session = events.length === 1 ? events[0]?.data.checkoutSession : null;
  if (session == null) return undefined;
  const [row] = await select({
    from: 'checkout_sessions',
    columns: ['presentation', 'shipping_option'],
  }).rows(handle, 'where id = ?', [session.id]);
  return (
    row && {
      ...jsonOf<Presentation>(row.presentation),
      shipping:
        row.shipping_option === null
          ? null
          : jsonOf<PaymentsSchemas['ShippingOption']>(row.shipping_option).name,
    }
  );
}
