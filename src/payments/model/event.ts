import type { PaymentsDeliveries, PaymentsSchemas } from '../../contract/contracts/payments.ts';
import type { Owner } from './owner.ts';

/** Types of the events that receivers get. Source: document 3, "Events". */
export type EventType = PaymentsSchemas['EventType'];
export type EventData<Type extends EventType = EventType> = PaymentsDeliveries[Type]['data'];

/** Types of the events about a session that was paid late, too much or in part (Decision 356). */
const MISPAID_TYPES = ['checkout.paid_late', 'checkout.overpaid', 'checkout.partially_paid'] as const;
type MispaidType = (typeof MISPAID_TYPES)[number];

export function isMispaidType(type: EventType): type is MispaidType {
  return MISPAID_TYPES.some(one => one === type);
}

/** An event as it is stored and sent. */
export interface PaymentEvent extends Owner {
  readonly id: string;
  readonly type: EventType;
  /** UTC milliseconds. */
  readonly createdAt: number;
  readonly data: EventData;
}
