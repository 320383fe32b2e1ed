import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import type { Clock } from '#lib/clock.ts';
import { newId } from '#lib/ids.ts';
import { webhookPayload } from '#payments/events/event-data.ts';
import { attemptHeaders } from '#payments/webhooks/attempt.ts';
import type { SendResult, WebhookSender } from '#payments/webhooks/sender.ts';

type Event = PaymentsSchemas['EventRecord'];

/** One attempt to forward an event. */
export interface ForwardAttempt extends SendResult {
  readonly event: Event;
  /** Milliseconds until the next attempt; undefined when there is none. */
  readonly againInMs: number | undefined;
}

export interface ForwarderOptions {
  readonly sender: WebhookSender;
  readonly clock: Clock;
  readonly forwardTo: string;
  readonly secret: string;
  /** Called after every attempt. */
  readonly onAttempt: (attempt: ForwardAttempt) => void;
  /** Ends the waits between attempts. Closing the sender ends a running attempt. */
  readonly signal: AbortSignal;
}

const WAITS_MS = [1_000, 3_000, 9_000];

/**
 * Sends events as deliveries of a webhook that exists for this run only, and retries failures. Resolves when the event
 * is delivered or given up, or when the signal ends an attempt. Rejects when the signal ends a wait.
 */
export function forwarder(options: ForwarderOptions): (event: Event) => Promise<void> {
  const { sender, clock, forwardTo, secret, onAttempt, signal } = options;
  const webhookId = newId('wh');
  return async event => {
    const { id: eventId, event: eventType, created_at, data } = event;
    const deliveryId = newId('del');
    const body = webhookPayload(
      { id: eventId, type: eventType, createdAt: Date.parse(created_at), data },
      webhookId,
    );
    for (let attempt = 1; ; attempt += 1) {
      const headers = attemptHeaders({
        webhookId,
        deliveryId,
        attempt,
        eventId,
        eventType,
        isTest: false,
        attemptedAt: clock.now(),
        body,
        secrets: { current: secret, previous: null },
      });
      const result = await sender.send({ url: forwardTo, headers, body });
      // The run is ending, so the aborted attempt is not reported.
      if (signal.aborted) return;
      const againInMs = result.isSuccess ? undefined : WAITS_MS[attempt - 1];
      onAttempt({ ...result, event, againInMs });
      if (againInMs === undefined) return;
      await clock.sleep(againInMs, signal);
    }
  };
}
