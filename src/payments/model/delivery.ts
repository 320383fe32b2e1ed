import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { DAY_MS } from '../../lib/clock.ts';

export type DeliveryStatus = PaymentsSchemas['DeliveryStatus'];

/** `automatic` follows the schedule; `manual` is a retry or a test on request. */
export type AttemptKind = 'automatic' | 'manual';

/**
 * Delays before the first, second and third retry, in milliseconds from the end of the failed attempt. Document 3,
 * "Webhook delivery".
 */
export const RETRY_DELAYS_MS = [60_000, 600_000, 3_600_000] as const;
/** Maximum jitter of a retry, as a fraction of its delay (Decision 123). */
const RETRY_JITTER = 0.1;
/** Age up to which held deliveries are sent when their webhook is activated again (Decision 124). */
export const HOLD_LIMIT_MS = DAY_MS;

/** Progress of one delivery. Times are UTC milliseconds. */
export interface DeliveryState {
  readonly isTest: boolean;
  readonly status: DeliveryStatus;
  /** Attempts that have begun, manual ones included. */
  readonly attempts: number;
  /** Automatic attempts that failed. */
  readonly automaticFailures: number;
  /** True once an attempt failed. `failure_count` counts a delivery once. */
  readonly hasFailed: boolean;
  /** The attempt under way; null when there is none. */
  readonly sending: AttemptKind | null;
  /** Time of the next automatic attempt; null during one and when none will follow. */
  readonly nextAttemptAt: number | null;
  readonly createdAt: number;
}

/** Effect of an attempt on the counters of its webhook. `streak` concerns the number of consecutive failed deliveries. */
export interface DeliveryTally {
  readonly successes: 0 | 1;
  readonly failures: 0 | 1;
  readonly streak: 'reset' | 'grow' | 'keep';
}

/** A new delivery, due at once. The delivery of a test is sent only on request. */
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

/** True when a manual retry is allowed. Otherwise it is answered with `invalid_status_transition` (Decision 125). */
export function canRetry({ status, sending }: Pick<DeliveryState, 'status' | 'sending'>): boolean {
  return status === 'failed' && sending === null;
}

/** True when no further attempt is made automatically. */
export function isFinal({ status, sending, nextAttemptAt }: DeliveryState): boolean {
  return status !== 'pending' && sending !== 'automatic' && nextAttemptAt === null;
}

/**
 * The delivery during an attempt. A manual attempt does not change the schedule.
 * @throws Error when the state allows no such attempt. Callers must rule this out first.
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
 * The delivery after the attempt under way, and the changes of its webhook's counters. `jitter` is 0 to 1.
 * @throws Error when no attempt was under way, RangeError for another `jitter`.
 */
export function attemptEnded(
  delivery: DeliveryState,
  { isSuccess, endedAt, jitter }: { isSuccess: boolean; endedAt: number; jitter: number },
): { delivery: DeliveryState; tally: DeliveryTally } {
  const { isTest, sending, hasFailed, nextAttemptAt } = delivery;
  if (sending === null) throw new Error('no attempt of this delivery is under way');
  if (isSuccess) {
    return {
      delivery: { ...delivery, status: 'success', sending: null, nextAttemptAt: null },
      tally: isTest ? NOTHING : { successes: 1, failures: 0, streak: 'reset' },
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
      isTest || hasFailed ? NOTHING : { successes: 0, failures: 1, streak: isAutomatic ? 'grow' : 'keep' },
  };
}

/**
 * The delivery after its process ended during an attempt. The outcome is unknown, so it does not count as a failure. An
 * automatic attempt is due again at once, a manual one is repeated only on request (Decision 123).
 * @throws Error when no attempt was under way.
 */
export function attemptCutOff(delivery: DeliveryState, now: number): DeliveryState {
  const { sending, status } = delivery;
  if (sending === null) throw new Error('no attempt of this delivery is under way');
  if (sending === 'automatic') return { ...delivery, sending: null, nextAttemptAt: now };
  return { ...delivery, sending: null, status: status === 'pending' ? 'failed' : status };
}

/**
 * The delivery after its webhook was activated again. A held delivery that is too old fails for good and is not counted
 * (Decision 124).
 */
export function resumed(delivery: DeliveryState, now: number): DeliveryState {
  const isHeld = delivery.sending === null && delivery.nextAttemptAt !== null;
  if (!isHeld || now - delivery.createdAt <= HOLD_LIMIT_MS) return delivery;
  return { ...delivery, status: 'failed', nextAttemptAt: null };
}

const NOTHING: DeliveryTally = { successes: 0, failures: 0, streak: 'keep' };

function retryAt(failures: number, endedAt: number, jitter: number): number | null {
  if (!(jitter >= 0 && jitter <= 1)) throw new RangeError(`jitter must be from 0 to 1, not ${jitter}`);
  const delay = RETRY_DELAYS_MS[failures - 1];
  return delay === undefined ? null : endedAt + delay + Math.floor(delay * RETRY_JITTER * jitter);
}

/** Id of an attempt: `del_…` for the first one, `del_…-2` for the second (Decision 122). */
export function attemptId(deliveryId: string, attempt: number): string {
  return attempt === 1 ? deliveryId : `${deliveryId}-${attempt}`;
}
