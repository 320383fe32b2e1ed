import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import type { Tally } from './delivery.ts';

export type DisabledReason = Exclude<PaymentsSchemas['DisabledReason'], null>;

/** So many deliveries that failed in a row disable a webhook. Document 3, "Webhook activity". */
export const FAILURES_TO_DISABLE = 10;

/** Whether a webhook is sent to, and what decides it. */
export interface WebhookActivity {
  readonly isActive: boolean;
  /** Null unless we switched it off. */
  readonly disabledReason: DisabledReason | null;
  /** UTC milliseconds. */
  readonly disabledAt: number | null;
  readonly failuresInARow: number;
  readonly successCount: number;
  readonly failureCount: number;
}

/** The activity of a webhook that was just made. */
export const NEW_ACTIVITY: WebhookActivity = {
  isActive: true,
  disabledReason: null,
  disabledAt: null,
  failuresInARow: 0,
  successCount: 0,
  failureCount: 0,
};

/** The activity after an attempt. `isDisabledNow` asks for the mail about it: only one tally of a row says so. */
export function tallied(
  activity: WebhookActivity,
  tally: Tally,
  now: number,
): { activity: WebhookActivity; isDisabledNow: boolean } {
  const row = { 'begins anew': 0, grows: activity.failuresInARow + 1, stays: activity.failuresInARow };
  const counted: WebhookActivity = {
    ...activity,
    failuresInARow: row[tally.row],
    successCount: activity.successCount + tally.successes,
    failureCount: activity.failureCount + tally.failures,
  };
  const isDisabledNow = counted.isActive && counted.failuresInARow >= FAILURES_TO_DISABLE;
  if (!isDisabledNow) return { activity: counted, isDisabledNow };
  return {
    activity: { ...counted, isActive: false, disabledReason: 'too_many_failures', disabledAt: now },
    isDisabledNow,
  };
}

/** The activity after a change by its owner. One that we switched off stays so under `isActive: false`. Decision 124. */
export function activityChanged(
  activity: WebhookActivity,
  { isActive = activity.isActive, hasNewUrl }: { isActive?: boolean; hasNewUrl: boolean },
): WebhookActivity {
  const isOwners = isActive || activity.isActive;
  const beginsAnew = hasNewUrl || (isActive && !activity.isActive);
  return {
    ...activity,
    isActive,
    disabledReason: isOwners ? null : activity.disabledReason,
    disabledAt: isOwners ? null : activity.disabledAt,
    failuresInARow: beginsAnew ? 0 : activity.failuresInARow,
  };
}
