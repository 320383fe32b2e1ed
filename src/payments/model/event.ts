import type { PaymentsDeliveries, PaymentsSchemas } from '../../contract/contracts/payments.ts';
import type { Owner } from './owner.ts';

/** Types of the events that receivers get. Source: document 3, "Events". */
export type EventType = PaymentsSchemas['EventType'];
export type EventData<Type extends EventType = EventType> = PaymentsDeliveries[Type]['data'];

/** An event as it is stored and sent. */
export interface PaymentEvent extends Owner {
  readonly id: string;
  readonly type: EventType;
  /** UTC milliseconds. */
  readonly createdAt: number;
  readonly data: EventData;
}
