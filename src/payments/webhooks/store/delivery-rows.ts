import { booleanOf, type Column } from '#db/columns.ts';
import type { LeasableRow } from '#db/lease.ts';
import type { Mode } from '../../model/owner.ts';
import type { Cell } from '../../secrets/sealed.ts';
import { type AttemptKind, attemptCutOff, type DeliveryStatus } from '../model/delivery.ts';
import type { Delivery, DeliveryEventType } from '../model/webhook.ts';

/** A row of `deliveries`. */
export interface DeliveryRow extends LeasableRow {
  organization_id: string;
  mode: Mode;
  webhook_id: string;
  event_id: string;
  event_type: DeliveryEventType;
  sealed_body: string;
  is_test: number | boolean;
  status: DeliveryStatus;
  response_code: number | null;
  response_time_ms: number | null;
  attempts: number;
  automatic_failures: number;
  has_failed: number | boolean;
  sending: AttemptKind | null;
  last_error: string | null;
  created_at: number;
  ended_at: number | null;
}

/** A whole delivery of which no attempt is under way, by column, without its body. */
export function deliveryValues(delivery: Delivery) {
  return {
    id: delivery.id,
    organization_id: delivery.organizationId,
    mode: delivery.mode,
    webhook_id: delivery.webhookId,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    is_test: Number(delivery.isTest),
    status: delivery.status,
    response_code: delivery.responseCode,
    response_time_ms: delivery.responseTimeMs,
    attempts: delivery.attempts,
    automatic_failures: delivery.automaticFailures,
    has_failed: Number(delivery.hasFailed),
    sending: delivery.sending,
    last_error: delivery.lastError,
    created_at: delivery.createdAt,
    ended_at: delivery.endedAt,
    next_attempt_at: delivery.nextAttemptAt,
  } satisfies Record<Exclude<keyof DeliveryRow, 'sealed_body' | 'locked_until' | 'locked_by'>, Column>;
}

/** The delivery in a row. The time at which a lease ends is none at which an attempt is due. */
export function deliveryOf(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    organizationId: row.organization_id,
    mode: row.mode,
    webhookId: row.webhook_id,
    eventId: row.event_id,
    eventType: row.event_type,
    isTest: booleanOf(row.is_test),
    status: row.status,
    responseCode: row.response_code,
    responseTimeMs: row.response_time_ms,
    attempts: row.attempts,
    automaticFailures: row.automatic_failures,
    hasFailed: booleanOf(row.has_failed),
    sending: row.sending,
    lastError: row.last_error,
    createdAt: row.created_at,
    endedAt: row.ended_at,
    nextAttemptAt: row.sending === 'automatic' ? null : row.next_attempt_at,
  };
}

/** As `deliveryOf`, without the attempt whose lease has run out: its process has died over it. */
export function deliveryAt(row: DeliveryRow, now: number): Delivery {
  const delivery = deliveryOf(row);
  const isCutOff = row.sending !== null && row.locked_until !== null && row.locked_until <= now;
  return isCutOff ? { ...delivery, ...attemptCutOff(delivery, now) } : delivery;
}

export function bodyCell(id: string): Cell {
  return { table: 'deliveries', column: 'sealed_body', id };
}
