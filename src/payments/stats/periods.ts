import type { OperationRequest } from '../../contract/contracts/operations.ts';
import type { PaymentsOperations } from '../../contract/contracts/payments.ts';
import { DAY_MS } from '../../lib/clock.ts';

/** A period as a request names it, such as `7d`. */
export type StatsPeriod = OperationRequest<PaymentsOperations['getAnalyticsOverview']>['query']['period'];

const DAYS = { '7d': 7, '30d': 30, '90d': 90 } as const;
/** Maximum number of days in an answer (Decision 223). */
const MAX_DAYS = 366;

/** Day of a time (UTC milliseconds), counted from 1970. */
export function dayNumber(time: number): number {
  return Math.floor(time / DAY_MS);
}

/** First day of a period that ends today; 0 for `all`. */
export function firstDayOf(period: StatsPeriod, now: number): number {
  return period === 'all' ? 0 : dayNumber(now) - DAYS[period] + 1;
}

/** All days from `first` to `last`, both included, but at most the last 366. */
export function daysBetween(first: number, last: number): number[] {
  const start = Math.max(first, last - MAX_DAYS + 1);
  return Array.from({ length: Math.max(0, last - start + 1) }, (_, index) => start + index);
}
