import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import type { EventData } from '../model/event.ts';

/** What a webhook is told of: an event, or a test's greeting. */
export interface ToldEvent {
  readonly id: string;
  readonly type: PaymentsSchemas['DeliveryEventType'];
  /** When it happened, in UTC milliseconds. */
  readonly createdAt: number;
  readonly data: EventData | PaymentsSchemas['TestPingData'];
}

/**
 * The body of a delivery. It is written once, kept, and sent in every attempt: a receiver checks the signature of these
 * very bytes. Document 3, "Delivery"; decision 122.
 */
export function webhookPayload({ id, type, createdAt, data }: ToldEvent, webhookId: string): string {
  const timestamp = new Date(createdAt).toISOString();
  // What JSON.stringify writes is well-formed: its UTF-8 bytes stand for the same text again.
  return JSON.stringify({ id, event: type, webhook_id: webhookId, timestamp, data });
}
