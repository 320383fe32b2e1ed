import type { Tally } from '#payments/model/delivery.ts';

/** Counts that a delivery can add to its webhook. */
export const SUCCESS: Tally = { successes: 1, failures: 0, row: 'begins anew' };
export const FAILURE: Tally = { successes: 0, failures: 1, row: 'grows' };
export const MANUAL_FAILURE: Tally = { successes: 0, failures: 1, row: 'stays' };
export const NOTHING: Tally = { successes: 0, failures: 0, row: 'stays' };
