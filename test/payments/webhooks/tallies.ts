import type { DeliveryTally } from '#payments/model/delivery.ts';

/** Counts that a delivery can add to its webhook. */
export const SUCCESS: DeliveryTally = { successes: 1, failures: 0, streak: 'reset' };
export const FAILURE: DeliveryTally = { successes: 0, failures: 1, streak: 'grow' };
export const MANUAL_FAILURE: DeliveryTally = { successes: 0, failures: 1, streak: 'keep' };
export const NOTHING: DeliveryTally = { successes: 0, failures: 0, streak: 'keep' };
