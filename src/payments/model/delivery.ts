import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { DAY_MS } from '../../lib/clock.ts';

export type DeliveryStatus = PaymentsSchemas['DeliveryStatus'];

/** By the schedule, or because somebody asked for it: a manual retry or a test. */
export type AttemptKind = 'automatic' | 'manual';

/** Waits before the first, second and third retry, in milliseconds from the end of the failed attempt. Document 3, "Webhook delivery". */
export const RETRY_DELAYS_MS = [60_000, 600_000, 3_600_000] as const;
/** How much later than its delay a retry may come, as a part of the delay. Decision 123. */
const RETRY_JITTER = 0.1;
/** How old a delivery may be when its webhook is switched on again. Decision 124. */
export const HOLD_LIMIT_MS = DAY_MS;

/** How far one event for one webhook is. Times are UTC milliseconds. */
export interface DeliveryState {
  readonly isTest: boolean;
  readonly status: DeliveryStatus;
  /** Attempts that have begun, manual ones included. */
  readonly attempts: number;
  /** Automatic attempts that failed. */
  readonly automaticFailures: number;
  /** Whether any attempt failed: what `failure_count` has counted already. */
  readonly hasFailed: boolean;
  /** The attempt under way; null when there is none. */
  readonly sending: AttemptKind | null;
  /** When the next automatic attempt is due; null when none is to come, and while one is under way. */
  readonly nextAttemptAt: number | null;
  readonly createdAt: number;
}

/** What an attempt changes in the counters of its webhook. `row` are the deliveries that failed in a row. */
export interface Tally {
  readonly successes: 0 | 1;
  readonly failures: 0 | 1;
  readonly row: 'begins anew' | 'grows' | 'stays';
}

/** A delivery that was just recorded: due at once, or, of a test, only when somebody asks. */
export function newDelivery({ isTest, now }: { isTest: boolean; now: number }): DeliveryState {
  return {
    isTest,
    status: 'pending',
    attempts: 0,
    automaticFailures: 0,
    hasFailed: false,
    sending: null,
    nextAttemptAt: isTest ? null : now,
    createdAt: now,
  };
}

/** Whether a manual retry is allowed; if not, it is `invalid_status_transition`. Decision 125. */
export function canRetry({ status, sending }: Pick<DeliveryState, 'status' | 'sending'>): boolean {
  return status === 'failed' && sending === null;
}

/** Whether nothing more is sent by itself. */
export function isFinal({ status, sending, nextAttemptAt }: DeliveryState): boolean {
  return status !== 'pending' && sending !== 'automatic' && nextAttemptAt === null;
}

/**
 * The delivery while an attempt is under way. A manual one leaves the schedule alone.
 * @throws Error when the state allows no such attempt, which the caller has to have ruled out.
 */
export function attemptBegun(delivery: DeliveryState, kind: AttemptKind): DeliveryState {
  const { isTest, status, sending, attempts, nextAttemptAt } = delivery;
  const isManual = canRetry(delivery) || (isTest && status === 'pending');
  const isAllowed = sending === null && (kind === 'manual' ? isManual : nextAttemptAt !== null);
  if (!isAllowed) throw new Error(`no ${kind} attempt of a ${status} delivery may begin now`);
  return {
    ...delivery,
    attempts: attempts + 1,
    sending: kind,
    nextAttemptAt: kind === 'automatic' ? null : nextAttemptAt,
  };
}

/**
 * The delivery after the attempt that was under way, and what its webhook counts. `jitter` is 0 to 1.
 * @throws Error when no attempt was under way, RangeError for another `jitter`.
 */
export function attemptEnded(
  delivery: DeliveryState,
  { isSuccess, endedAt, jitter }: { isSuccess: boolean; endedAt: number; jitter: number },
): { delivery: DeliveryState; tally: Tally } {
  const { isTest, sending, hasFailed, nextAttemptAt } = delivery;
  if (sending === null) throw new Error('no attempt of this delivery is under way');
  if (isSuccess) {
    return {
      delivery: { ...delivery, status: 'success', sending: null, nextAttemptAt: null },
      tally: isTest ? NOTHING : { successes: 1, failures: 0, row: 'begins anew' },
    };
  }
  const isAutomatic = sending === 'automatic';
  const automaticFailures = delivery.automaticFailures + (isAutomatic ? 1 : 0);
  return {
    delivery: {
      ...delivery,
      status: 'failed',
      sending: null,
      automaticFailures,
      hasFailed: true,
      nextAttemptAt: isAutomatic ? retryAt(automaticFailures, endedAt, jitter) : nextAttemptAt,
    },
    tally:
      isTest || hasFailed ? NOTHING : { successes: 0, failures: 1, row: isAutomatic ? 'grows' : 'stays' },
  };
}

/**
 * The delivery after an attempt that our own end cut off. Nobody knows what came of it, so it is no failure: an automatic
 * one is made again at once, one by hand only when it is asked for again. Decision 123.
 * @throws Error when no attempt was under way.
 */
export function attemptCutOff(delivery: DeliveryState, now: number): DeliveryState {
  const { sending, status } = delivery;
  if (sending === null) throw new Error('no attempt of this delivery is under way');
  if (sending === 'automatic') return { ...delivery, sending: null, nextAttemptAt: now };
  return { ...delivery, sending: null, status: status === 'pending' ? 'failed' : status };
}

/** When a held delivery's webhook is active again: one that is too old by now fails for good, without a counter. Decision 124. */
export function resumed(delivery: DeliveryState, now: number): DeliveryState {
  const isHeld = delivery.sending === null && delivery.nextAttemptAt !== null;
  if (!isHeld || now - delivery.createdAt <= HOLD_LIMIT_MS) return delivery;
  return { ...delivery, status: 'failed', nextAttemptAt: null };
}

const NOTHING: Tally = { successes: 0, failures: 0, row: 'stays' };

function retryAt(failures: number, endedAt: number, jitter: number): number | null {
  if (!(jitter >= 0 && jitter <= 1)) throw new RangeError(`jitter is 0 to 1, not ${jitter}`);
  const delay = RETRY_DELAYS_MS[failures - 1];
  return delay === undefined ? null : endedAt + delay + Math.floor(delay * RETRY_JITTER * jitter);
}
