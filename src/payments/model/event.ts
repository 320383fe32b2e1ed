import type { PaymentsDeliveries, PaymentsSchemas } from '../../contract/contracts/payments.ts';
import type { Owner } from './owner.ts';

/** What is told to receivers, by type. Source: document 3, "Events". */
export type EventType = PaymentsSchemas['EventType'];
export type EventData<Type extends EventType = EventType> = PaymentsDeliveries[Type]['data'];

/** Something that happened, as it is kept and told. */
export interface PaymentEvent extends Owner {
  readonly id: string;
  readonly type: EventType;
  /** UTC milliseconds. */
  readonly createdAt: number;
  readonly data: EventData;
}
