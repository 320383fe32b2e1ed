import type { Figure } from './figure.ts';
import { dataStalls } from './stalls/data-kinds.ts';
import { paymentsStalls } from './stalls/payments-kinds.ts';

/** Longest time for which each kind of request blocks the event loop, without caches. */
export async function benchStalls(): Promise<Figure[]> {
  return [...(await dataStalls()), ...(await paymentsStalls())];
}
